package program

import (
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"math/rand"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"sonde/arch/amd64/goabi"
	"sonde/bpf"
	"sonde/bpf/verify"
)

const counting = `
	map hits percpu_array 4 8 1
	*(u32 *)(r10 - 4) = 0
	r1 = map[idx:0]
	r2 = r10
	r2 += -4
	call 1
	if r0 == 0 goto out
	r1 = *(u64 *)(r0 + 0)
	r1 += 1
	*(u64 *)(r0 + 0) = r1
out:	r0 = 0
	exit`

// TestHelpersAreThere: what programs may call, by number. Of what the verifier knows beside these, the
// kernel has nothing.
func TestHelpersAreThere(t *testing.T) {
	there := map[int32]bool{}
	for _, r := range [][2]int32{{1, 8}, {12, 12}, {14, 16}, {25, 25}, {27, 27}, {35, 35}, {45, 45}, {67, 67}, {80, 80}, {87, 89}, {109, 109}, {112, 115}, {118, 118}, {125, 125},
		{130, 134}, {160, 160}, {164, 165}, {173, 174}, {177, 177}, {181, 185}, {195, 195}, {bpf.HelperGoid, bpf.HelperErrorText}} {
		for n := r[0]; n <= r[1]; n++ {
			there[n] = true
		}
	}
	for n := range int32(1 << 17) {
		if h := env.Helpers[n]; (h != nil) != there[n] {
			t.Errorf("helper %d: %v", n, h)
		}
	}
}

// TestHelpersHaveTheirName: by it the walks over the image know that programs call them.
func TestHelpersHaveTheirName(t *testing.T) {
	for _, h := range helpers {
		n := h.number
		if name := runtime.FuncForPC(goabi.CodeOf(h.call)).Name(); !strings.HasPrefix(name, "sonde/probe/program.help") {
			t.Errorf("helper %d is %s", n, name)
		}
		if env.Helpers[n] == nil {
			t.Errorf("the verifier does not know helper %d", n)
		}
	}
	// In the place of others, or by a door.
	called := map[string]bool{"helpLookupWord": true, "helpSubmitShared": true, "helpDiscardShared": true, "helpMeter": true}
	for _, h := range helpers {
		name := runtime.FuncForPC(goabi.CodeOf(h.call)).Name()
		called[name[strings.LastIndex(name, ".")+1:]] = true
	}
	files, _ := filepath.Glob("*_trap.go")
	for _, file := range files {
		source, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for name := range source.Scope.Objects {
			if strings.HasPrefix(name, "help") && name != "helper" && name != "helpers" && name != "helperOf" && !called[name] {
				t.Errorf("%s: no program can call %s", file, name)
			}
		}
	}
}

func TestLoadAndClose(t *testing.T) {
	used := memory.inUse()
	p, maps, err := Assemble("counting", counting)
	if err != nil {
		t.Fatal(err)
	}
	prog, err := Load(p, maps, nil)
	if err != nil {
		t.Fatal(err)
	}
	at, image := prog.Code()
	size := len(image) + behind
	if start, name := codeAt(at + uintptr(size) - 1); start != at || name != "bpf_prog_counting [bpf]" {
		t.Errorf("its last byte is %s's", name)
	}
	if start, _ := codeAt(at + uintptr(size)); start != 0 {
		t.Error("it has a byte too much")
	}
	var symbols strings.Builder
	WriteSymbols(&symbols)
	if got := symbols.String(); !strings.HasSuffix(got, " t bpf_prog_counting [bpf]\n") {
		t.Errorf("symbols %q", got)
	}
	maps[0].Close()
	if memory.inUse() == used {
		t.Error("a map is freed that a program uses")
	}
	prog.Close()
	prog.Close()
	if start, _ := codeAt(at); start != 0 || memory.inUse() != used || slices.Contains(Programs(), prog) {
		t.Error("something is left")
	}
	for _, busy := range code.used {
		if busy {
			t.Fatal("its code is left")
		}
	}
}

func TestRefusedPrograms(t *testing.T) {
	for text, want := range map[string]syscall.Errno{
		"r0 = *(u64 *)(r1 + 400)\nexit":                                syscall.EACCES,
		"again: goto again":                                            syscall.EACCES,
		"r0 = 0\n" + strings.Repeat("r0 += 1\n", 1<<16) + "exit":       syscall.E2BIG,
		"r0 = *(u64 *)(r1 + 120)\nexit":                                syscall.EINVAL,
		"r1 = map[fd:3]\nr0 = 0\nexit":                                 syscall.EACCES,
		"call 9\nexit":                                                 syscall.EINVAL,
		"map a percpu_array 4 8 1\nr1 = map[idx:0][0]+0\nr0 = 0\nexit": syscall.EACCES,
	} {
		p, maps, err := Assemble("bad", text)
		if err != nil {
			t.Fatal(err)
		}
		prog, err := Load(p, maps, nil)
		var refused *verify.Error
		if !errors.Is(err, want) || prog != nil || want == syscall.EACCES && !errors.As(err, &refused) {
			t.Errorf("%.40q: %v, want %v", text, err, want)
		}
		for _, m := range maps {
			m.Close()
		}
	}
	if len(Programs()) != 0 || memory.inUse() != 0 {
		t.Error("something is left")
	}
}

func TestBadText(t *testing.T) {
	for text, want := range map[string]string{
		"map a":                            "line 1: give map NAME",
		"r0 = 0\nmap a tree 4 8 1":         `line 2: "tree" is not a type of map`,
		"map a array 4 x 1":                `line 1: "x" is not a number`,
		"map a array 8 8 1":                "keys of 8 bytes",
		"map a array 4 8 1\nr0 = zero":     "line 2: ",
		"map a array 4 8 1\nmap b queue 1": "line 2: give map NAME",
	} {
		if p, _, err := Assemble("bad", text); p != nil || !errors.Is(err, syscall.EINVAL) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	for _, name := range []string{"", "a b", "0123456789abcdef", "ä"} {
		p, _, err := Assemble(name, "r0 = 0\nexit")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Load(p, nil, nil); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("%q: %v", name, err)
		}
	}
	p, maps, err := Assemble("counting", counting)
	if err != nil {
		t.Fatal(err)
	}
	other := newMap(t, maps[0].Spec)
	for _, wrong := range [][]*Map{nil, {other}, {maps[0], other}} {
		if _, err := Load(p, wrong, nil); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("with %d other maps: %v", len(wrong), err)
		}
	}
	maps[0].Close()
}

// TestPool: pieces do not overlap, and all come back.
func TestPool(t *testing.T) {
	p := newPool(1<<20, 1<<20+64*unit)
	rnd := rand.New(rand.NewSource(1))
	mine := map[uintptr]int{}
	for range 10_000 {
		if n := 1 + rnd.Intn(5*unit); rnd.Intn(2) == 0 {
			at, err := p.take(n)
			if err != nil {
				if !errors.Is(err, syscall.ENOMEM) {
					t.Fatal(err)
				}
				continue
			}
			for other, size := range mine {
				if at < other+uintptr(size) && other < at+uintptr(n) || at%unit != 0 || at+uintptr(n) > 1<<20+64*unit {
					t.Fatalf("%d bytes at %#x, and %d at %#x", n, at, size, other)
				}
			}
			mine[at] = n
			continue
		}
		for at, n := range mine {
			p.put(at, n)
			delete(mine, at)
			break
		}
	}
	for at, n := range mine {
		p.put(at, n)
	}
	if _, err := p.take(64 * unit); err != nil {
		t.Error(err)
	}
}

// TestAbsentHelpersAreNamed: who loads a program is told which of Linux's helpers is not there, and why.
func TestAbsentHelpersAreNamed(t *testing.T) {
	for n, want := range map[int]string{
		36:  "unknown func bpf_probe_write_user#36: no program writes",
		58:  "unknown func bpf_override_return#58: no program ends",
		158: "unknown func bpf_get_current_task_btf#158: no program reads through kernel pointers",
	} {
		p, _, err := Assemble("absent", fmt.Sprintf("call %d\nr0 = 0\nexit", n))
		if err != nil {
			t.Fatal(err)
		}
		if prog, err := Load(p, nil, nil); !errors.Is(err, syscall.EINVAL) || prog != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d: %v, want EINVAL, %s", n, err, want)
		}
	}
}

// TestHelpersThatAreNeverCalled need not be there: loaders put such a call where a field of the kernel is not.
func TestHelpersThatAreNeverCalled(t *testing.T) {
	p, _, err := Assemble("dead", "r0 = 0\nif r0 == 0 goto out\ncall 195896080\nout: exit")
	if err != nil {
		t.Fatal(err)
	}
	prog, err := Load(p, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	prog.Close()
}
