package object

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"sonde/bpf"
	"sonde/bpf/btf"
	"sonde/bpf/verify"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func file_(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// kernel has the types of core.c, laid out in another way.
func kernel() (*btf.Table, error) {
	b := btf.NewBuilder()
	word := b.Add(btf.Type{Kind: btf.Int, Name: "long", Size: 8, Encoding: btf.Signed, Bits: 64})
	number := b.Add(btf.Type{Kind: btf.Int, Name: "int", Size: 4, Encoding: btf.Signed, Bits: 32})
	u32 := b.Add(btf.Type{Kind: btf.Int, Name: "unsigned int", Size: 4, Bits: 32})
	u64 := b.Add(btf.Type{Kind: btf.Int, Name: "unsigned long", Size: 8, Bits: 64})
	four := b.Add(btf.Type{Kind: btf.Array, Of: word, Index: number, Count: 4})
	inner := b.Add(btf.Type{Kind: btf.Struct, Name: "inner", Size: 48, Members: []btf.Member{{Name: "more", Type: word}, {Name: "b", Type: four, Offset: 64}, {Name: "a", Type: number, Offset: 320}}})
	union := b.Add(btf.Type{Kind: btf.Union, Size: 8, Members: []btf.Member{{Name: "low", Type: u32}, {Name: "whole", Type: u64}}})
	b.Add(btf.Type{Kind: btf.Struct, Name: "task", Size: 72, Members: []btf.Member{{Name: "rest", Type: u32, Bits: 11, Offset: 3}, {Type: union, Offset: 64}, {Name: "in", Type: inner, Offset: 128}, {Name: "pid", Type: number, Offset: 512}}})
	b.Add(btf.Type{Kind: btf.Enum, Name: "color", Size: 4, Values: []btf.Value{{Name: "red", Number: 1}, {Name: "blue", Number: 77}}})
	var regs []btf.Member
	for i, name := range strings.Fields("ax di ip sp") {
		regs = append(regs, btf.Member{Name: name, Type: u64, Offset: uint32(64 * i)})
	}
	b.Add(btf.Type{Kind: btf.Struct, Name: "pt_regs", Size: 32, Members: regs})
	data, err := b.Bytes()
	if err != nil {
		return nil, err
	}
	return btf.Read(data)
}

// text is an object as the golden files have it.
func (o *Object) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "license %s\n", o.License)
	for _, m := range o.Maps {
		fmt.Fprintf(&b, "map %s %s %d %d %d flags %#x value %x\n", m.Name, m.Type, m.KeySize, m.ValueSize, m.MaxEntries, m.Flags, m.Value)
	}
	for _, p := range o.Programs {
		typ, at, _ := Place(p.Section)
		fmt.Fprintf(&b, "program %s %s at %s, GPL %t\n", p.Name, typ, at, p.GPL)
		for pc := 0; pc < len(p.Insns); pc++ {
			if l := p.LineOf(pc); l != nil && l.PC == pc {
				fmt.Fprintf(&b, "; %s:%d %s\n", l.File, l.Number, l.Text)
			}
			text, err := bpf.Text(p.Insns, pc)
			fmt.Fprintf(&b, "%4d: %s", pc, text)
			if err != nil {
				fmt.Fprintf(&b, "%v", err)
			}
			if in := p.Insns[pc]; in.IsWide() && (in.Src() == bpf.MapIdx || in.Src() == bpf.MapIdxVal) {
				fmt.Fprintf(&b, " %s", p.Uses[in.Imm].Name)
			}
			if why := p.Missing[pc]; why != "" {
				fmt.Fprintf(&b, " %s", why)
			}
			b.WriteByte('\n')
			if p.Insns[pc].IsWide() {
				pc++
			}
		}
	}
	return b.String()
}

func TestObjects(t *testing.T) {
	for _, name := range []string{"latency", "old", "core", "sections"} {
		o, err := Read(file_(t, name+".o"), kernel)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		golden := "testdata/" + name + ".txt"
		if *update {
			if err := os.WriteFile(golden, []byte(o.text()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want := string(file_(t, name+".txt")); o.text() != want {
			t.Errorf("%s: got\n%swant\n%s", name, o.text(), want)
		}
		for _, p := range o.Programs {
			_, err := verify.Check(&p.Program, verify.NewEnv())
			if (err == nil) != (p.Name != "unguarded") {
				t.Errorf("%s: %s: %v", name, p.Name, err)
			}
			if e := (*verify.Error)(nil); errors.As(err, &e) && p.Missing[e.PC] == "" {
				t.Errorf("%s: nothing says why", p.Name)
			}
		}
	}
}

// TestOwnTypes: where the kernel has the object's own types, nothing changes but what is asked of types
// whose names end in ___ and more.
func TestOwnTypes(t *testing.T) {
	data := file_(t, "core.o")
	f, err := readFile(data)
	if err != nil {
		t.Fatal(err)
	}
	own, err := btf.ReadObject(f.sections[f.find(".BTF")].data)
	if err != nil {
		t.Fatal(err)
	}
	o, err := Read(data, func() (*btf.Table, error) { return own, nil })
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range o.Programs {
		was, err := bpf.Decode(f.sections[f.find(p.Section)].data)
		if err != nil {
			t.Fatal(err)
		}
		changed := 0
		for pc, in := range p.Insns {
			if in != was[pc] && in.Src() != bpf.MapIdxVal && (pc == 0 || !p.Insns[pc-1].IsWide()) {
				changed++
			}
		}
		if want := map[string]int{"fields": 2, "loads": 2}[p.Name]; changed != want {
			t.Errorf("%s: %d instructions have changed, want %d", p.Name, changed, want)
		}
	}
}

func TestPlaces(t *testing.T) {
	for section, want := range map[string]string{
		"kprobe/vfs.Read+0x10": "vfs.Read+0x10", "kretprobe/vfs.(*File).Read": "ret:vfs.(*File).Read", "ksyscall/openat": "sys:openat",
		"kretsyscall/read": "ret:sys:read", "uprobe//bin/sh:main": "/bin/sh:main", "uretprobe//bin/sh:main": "ret:/bin/sh:main",
		"kprobe.multi/vfs.*": "vfs.*", "kretprobe.multi/vfs.*": "ret:vfs.*", "uprobe.multi//bin/sh:main.*": "/bin/sh:main.*", "tick.multi/99hz": "",
		"tracepoint/sched/sched_switch": "event:sched:sched_switch", "tp/go/gc_start": "event:go:gc_start",
		"tick/99hz": "tick:99hz", "every/1s": "every:1s", "kprobe": "", "xdp": "", "kprobe/": "", "": "",
	} {
		typ, at, err := Place(section)
		if at != want || (err != nil) != (want == "") || want != "" && (typ == bpf.Tracepoint) != strings.HasPrefix(want, "event:") {
			t.Errorf("%s: %s %q, %v", section, typ, at, err)
		}
		if err != nil && !errors.Is(err, syscall.ENOEXEC) {
			t.Error(err)
		}
	}
}

// TestOtherSections: what Linux has and this kernel has not is refused with what to write instead.
func TestOtherSections(t *testing.T) {
	for section, want := range map[string]string{
		"tracepoint/syscalls/sys_enter_openat": "give ksyscall/openat", "tp/syscalls/sys_exit_read": "give kretsyscall/read", "tracepoint": "expected a place",
		"raw_tp/sys_enter": "give tracepoint/", "tp_btf/sched_switch": "give tracepoint/", "fentry/vfs_read": "a struct pt_regs", "perf_event": "tick/99hz",
		"uprobe.s//bin/sh:main": "leave out .s", "usdt//bin/sh:a:b": "give uprobe/", "xdp": "expected kprobe/", "socket": "expected kprobe/", "kprobe.multi": "expected a place",
	} {
		if _, _, err := Place(section); !errors.Is(err, syscall.ENOEXEC) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", section, err, want)
		}
	}
}

// Where in latency.o parts are, as readelf says.
const (
	headers    = 0x15c8
	symbols    = 0xf60
	symbolsEnd = symbols + 0x1b0
	relocs     = 0x1150 // of kprobe/vfs.Read
)

// TestRefused: what is wrong with a file is said, and with which part.
func TestRefused(t *testing.T) {
	good := file_(t, "latency.o")
	put := func(at int, b ...byte) []byte {
		data := append([]byte(nil), good...)
		copy(data[at:], b)
		return data
	}
	replace := func(old, new string) []byte { return []byte(strings.ReplaceAll(string(good), old, new)) }
	notFunctions := append([]byte(nil), good...)
	for at := symbols; at < symbolsEnd; at += symbolSize {
		notFunctions[at+4] = 0x10
	}
	head := func(i int) int { return headers + i*sectionSize }
	for want, data := range map[string][]byte{
		"does not begin as an ELF file":               []byte("#!/bin/sh"),
		"class 1, byte order 1":                       put(4, 1),
		"type 1, machine 62":                          put(18, 62),
		"headers of sections at":                      put(40, 0xff, 0xff, 0xff),
		"section 2 is at":                             put(head(2)+32, 0xff, 0xff, 0xff),
		"the name of section 3":                       put(head(3), 0xff, 0xff),
		`section "kprabe/vfs.Read"`:                   replace("kprobe/vfs.Read", "kprabe/vfs.Read"),
		"there is no program":                         notFunctions,
		"map sums: the member bey_size is":            replace("key_size", "bey_size"),
		"refers to begun in section .mops":            replace(".maps", ".mops"),
		"11 has 16777216 bytes of zeroes":             put(head(11)+32, 0, 0, 0, 1),
		"a relocation of kind 9 at instruction 8 of ": put(relocs+8, 9),
	} {
		if _, err := Read(data, kernel); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	none := errors.New("there are none")
	if _, err := Read(file_(t, "core.o"), func() (*btf.Table, error) { return nil, none }); !errors.Is(err, none) {
		t.Error(err)
	}
}

// TestNumbersThatDoNotFit: an instruction gets no part of a number of the kernel's that it has no room for.
func TestNumbersThatDoNotFit(t *testing.T) {
	mov := bpf.Insn{Op: 0xb7}
	for _, n := range []uint64{1 << 32, 1 << 40, 1<<63 - 1, 1 << 63} {
		insns := []bpf.Insn{mov}
		if why := patch(insns, answer{}, answer{value: n}); why == "" || insns[0] != mov {
			t.Errorf("%#x: %q, %v", n, why, insns[0])
		}
	}
	for _, n := range []uint64{5, 1<<32 - 1, ^uint64(0)} {
		if why := patch([]bpf.Insn{mov}, answer{}, answer{value: n}); why != "" {
			t.Errorf("%#x: %s", n, why)
		}
	}
}

// FuzzRead: whatever a file has, reading ends, and what comes of it can be judged.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"latency.o", "old.o", "core.o", "sections.o"} {
		f.Add(file_(f, name))
	}
	env := verify.NewEnv()
	env.Limits = verify.Limits{Steps: 10_000}
	f.Fuzz(func(t *testing.T, data []byte) {
		o, err := Read(data, kernel)
		if err != nil {
			return
		}
		for _, p := range o.Programs {
			for pc, in := range p.Insns {
				if in.IsWide() && (in.Src() == bpf.MapIdx || in.Src() == bpf.MapIdxVal) && pc+1 < len(p.Insns) && p.Missing == nil && int(in.Imm) >= len(p.Uses) {
					t.Errorf("%s, %d: map %d of %d", p.Name, pc, in.Imm, len(p.Uses))
				}
			}
			verify.Check(&p.Program, env)
		}
	})
}
