package program

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"sonde/arch/amd64/prologue"
	"sonde/kernel/abi"
)

const libc = "/lib/x86_64-linux-gnu/libc.so.6"

func open(t *testing.T, path string) *File {
	t.Helper()
	r, err := os.Open(path)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { r.Close() })
	f, err := Open(r)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func self(t *testing.T) *File {
	t.Helper()
	if runtime.GOARCH != "amd64" {
		t.Skip("this program is not x86-64")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return open(t, exe)
}

//go:noinline
func target(n int) int {
	var b [300]byte
	if n > 3 {
		return int(use(b[:]))
	}
	return n
}

//go:noinline
func use(b []byte) byte { return b[len(b)-1] }

// TestThisProgram asks for a function of this test.
func TestThisProgram(t *testing.T) {
	f := self(t)
	s, err := f.Lookup("sonde/linux/program.target")
	if err != nil || !f.Go() || !s.Go || s.Addr != uint64(reflect.ValueOf(target).Pointer()) {
		t.Fatal(s, err)
	}
	if got, off, ok := f.At(s.Addr + 5); !ok || got != s || off != 5 {
		t.Errorf("%+v+%d, %v", got, off, ok)
	}
	if c := f.Check(s); c.Kind != prologue.Medium {
		t.Errorf("%+v", c)
	}
	returns, leaves, err := f.Returns(s)
	if err != nil || len(returns) < 2 || len(leaves) != 0 {
		t.Errorf("%x, %x, %v", returns, leaves, err)
	}
	for _, r := range returns {
		if b, err := f.Code(r, 1); err != nil || b[0] != 0xC3 {
			t.Errorf("%x, %v", b, err)
		}
	}
	if str := f.String(s.Addr + 4); str != "sonde/linux/program.target+0x4" {
		t.Error(str)
	}
}

// TestBoundaries: each instruction's beginning is one, and nothing in between.
func TestBoundaries(t *testing.T) {
	f := self(t)
	s, err := f.Lookup("sonde/linux/program.target")
	if err != nil {
		t.Fatal(err)
	}
	begins, err := f.Instructions(s)
	if err != nil || len(begins) < 10 {
		t.Fatal(begins, err)
	}
	for off := range s.Size {
		err := f.Boundary(s.Addr + off)
		if slices.Contains(begins, off) != (err == nil) || err != nil && !errors.Is(err, syscall.EILSEQ) {
			t.Errorf("+%d: %v", off, err)
		}
	}
	if err := f.Boundary(1); !errors.Is(err, ErrNoFunction) {
		t.Error(err)
	}
}

// TestStrippedGo: all names are there, at the same addresses.
func TestStrippedGo(t *testing.T) {
	tool, err := exec.LookPath("strip")
	if err != nil {
		t.Skip("strip (binutils) is not installed")
	}
	whole := self(t)
	exe, _ := os.Executable()
	small := filepath.Join(t.TempDir(), "stripped")
	if out, err := exec.Command(tool, "-o", small, exe).CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	f := open(t, small)
	if n := len(f.All()); n < len(whole.All())-100 {
		t.Errorf("%d places, %d in the whole one", n, len(whole.All()))
	}
	n := 0
	for _, s := range whole.Functions() {
		if !s.Go {
			continue
		}
		n++
		if got, _, ok := f.At(s.Addr); !ok || got.Addr != s.Addr || got.End() != s.End() {
			t.Errorf("%+v, %v; want %+v", got, ok, s)
		}
	}
	if s, err := f.Lookup("sonde/linux/program.target"); err != nil || n < 1000 || !f.Go() {
		t.Errorf("%d functions; %+v, %v", n, s, err)
	}
}

// TestLibc: names by .dynsym, offsets and addresses that differ, indirect functions.
func TestLibc(t *testing.T) {
	f := open(t, libc)
	s, err := f.Lookup("write")
	if err != nil || s.Size == 0 || s.Indirect || f.Go() {
		t.Fatal(s, err)
	}
	off, ok := f.Offset(s.Addr)
	back, ok2 := f.Vaddr(off)
	if !ok || !ok2 || back != s.Addr {
		t.Errorf("%#x, %v, %#x, %v", off, ok, back, ok2)
	}
	if str, err := f.Lookup("strlen"); err != nil || !str.Indirect {
		t.Errorf("%+v, %v", str, err)
	}
	returns, _, err := f.Returns(s)
	if err != nil || len(returns) == 0 {
		t.Error(returns, err)
	}
	for _, p := range f.elf.segments {
		if p.Type == abi.PT_LOAD && p.Flags&abi.PF_X != 0 {
			const start = 0x7f12_3456_7000
			if bias, ok := f.Bias(start, p.Offset); !ok || bias+p.VAddr != start {
				t.Errorf("%#x, %v", bias, ok)
			}
			if bias, ok := f.Bias(start, p.Offset+2*pageSize); !ok || bias+p.VAddr+2*pageSize != start {
				t.Errorf("%#x, %v", bias, ok)
			}
		}
	}
	if _, ok := f.Bias(0x1000, 1<<40); ok {
		t.Error("a mapping beyond the end")
	}
}

// TestStrippedC: a program without any names has functions all the same.
func TestStrippedC(t *testing.T) {
	f := open(t, "/bin/busybox")
	if len(f.Functions()) != 0 {
		t.Skip("this one is not stripped")
	}
	all, end := f.All(), uint64(0)
	for _, s := range all {
		got, off, ok := f.At(s.Addr)
		if _, err := f.Instructions(s); err != nil || !ok || got != s || off != 0 || s.Addr < end {
			t.Errorf("%+v, %+v+%d, %v", s, got, off, err)
		}
		end = s.End()
	}
	if len(all) < 500 {
		t.Errorf("%d functions", len(all))
	}
}

// TestDataInText: a function with data in it is refused, and a size that is none is bounded.
func TestDataInText(t *testing.T) {
	l := &function{Symbol: Symbol{Name: "f", Addr: 0x1000, Size: 8}, code: []byte("\x90\xeb\x01\x06\xc3\x90\x90\x90")}
	if l.walk(); !errors.Is(l.err, syscall.EILSEQ) || !strings.Contains(l.err.Error(), "+0x3") {
		t.Error(l.err)
	}
	f := self(t)
	f.last = nil
	if _, err := f.Instructions(Symbol{Addr: 0x1000, Size: 1 << 60}); !errors.Is(err, syscall.EILSEQ) {
		t.Error(err)
	}
}

// TestLeaves: jumps to elsewhere are told from jumps inside.
func TestLeaves(t *testing.T) {
	l := &function{Symbol: Symbol{Addr: 0x1000, Size: 16}, code: []byte("\xeb\x00\xe9\x00\x01\x00\x00\xff\xe0\xc3\xe9\xf1\xff\xff\xff\xc3")}
	l.walk()
	if l.err != nil || !slices.Equal(l.returns, []uint64{0x1009, 0x100f}) || !slices.Equal(l.leaves, []uint64{0x1002, 0x1007}) {
		t.Errorf("%x, %x, %v", l.returns, l.leaves, l.err)
	}
}

func TestNoProgram(t *testing.T) {
	for _, b := range []string{"", "#!/bin/sh\n", "\x7fELF", strings.Repeat("\x7fELF\x02\x01\x01", 100)} {
		if _, err := Open(strings.NewReader(b)); !errors.Is(err, syscall.ENOEXEC) {
			t.Errorf("%.10q: %v", b, err)
		}
	}
}

// TestWhateverTheFileHolds changes bytes where a file says how it is laid out, and in
// pclntab: there is an answer.
func TestWhateverTheFileHolds(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.NewFile(bytes.NewReader(whole))
	if err != nil {
		t.Skip(err)
	}
	headers := int(binary.LittleEndian.Uint64(whole[40:])) // e_shoff
	lines := int(f.Section(".gopclntab").Offset)
	rng := rand.New(rand.NewPCG(1, 2))
	opened := 0
	for range 100 {
		b := slices.Clone(whole)
		for range 1 + rng.IntN(4) {
			at := rng.IntN(1000)
			switch rng.IntN(3) {
			case 0:
				at += headers
			case 1:
				at = lines + at%80
			}
			b[at] = byte(rng.Uint32())
		}
		if p, err := Open(bytes.NewReader(b)); err == nil {
			opened++
			p.ask(rng)
		} else if !errors.Is(err, syscall.ENOEXEC) {
			t.Error(err)
		}
	}
	if opened < 10 || opened == 100 {
		t.Errorf("%d of 100 could be opened", opened)
	}
}

// ask asks for all there is about a few functions.
func (f *File) ask(rng *rand.Rand) {
	for n := 0; n < 20 && len(f.funcs) > 0; n++ {
		s := f.funcs[rng.IntN(len(f.funcs))]
		f.At(s.Addr)
		f.Boundary(s.Addr)
		f.Returns(s)
		f.Check(s)
		f.Line(s.Addr + uint64(rng.IntN(100)))
		f.Before(s.Addr + uint64(rng.IntN(100)))
		f.Variable(s.Name)
		if e, ok := f.frames.Find(s.Addr); ok {
			e.Row(s.Addr)
		}
	}
}
