package program

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"sonde/internal/quick"
	"sonde/kernel/abi"
)

// fileOf is a file with code at 0x1000, and with these functions.
func fileOf(code string, funcs ...Symbol) *File {
	o := &object{file: bytes.NewReader([]byte(code)), segments: []abi.ELFSegment{{Type: abi.PT_LOAD, Flags: abi.PF_X, VAddr: 0x1000, FileSize: uint64(len(code))}}}
	f := &File{elf: o, funcs: funcs}
	f.index(nil)
	return f
}

func TestSeveralOfAName(t *testing.T) {
	f := fileOf(strings.Repeat("\x90", 16), Symbol{Name: "a", Addr: 0x1001, Size: 1}, Symbol{Name: "a", Addr: 0x1002, Size: 1},
		Symbol{Name: "b", Addr: 0x1003, Size: 4}, Symbol{Name: "b", Addr: 0x1005, Size: 1, global: true})
	if _, err := f.Lookup("a"); !errors.Is(err, syscall.EADDRNOTAVAIL) {
		t.Error(err)
	}
	if s, err := f.Lookup("b"); err != nil || s.Addr != 0x1005 {
		t.Error(s, err)
	}
	for _, name := range []string{"c", ""} {
		if _, err := f.Lookup(name); !errors.Is(err, syscall.ENOENT) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if s, _, ok := f.At(0x1006); !ok || s.Addr != 0x1003 { // the other b ends before it
		t.Error(s, ok)
	}
	for name, want := range map[string][]uint64{"a": {1, 2}, "b": {3, 5}} {
		spots, err := f.Find(name, 0)
		if err != nil || len(spots) != 2 || spots[0].Offset != want[0] || spots[1].Offset != want[1] || spots[1].Fn.Name != name {
			t.Errorf("%s: %+v, %v", name, spots, err)
		}
	}
	if got := strings.Join(f.Fitting("*"), " "); got != "a b" {
		t.Errorf("all are %s", got)
	}
}

// TestFindRefuses: each wrong place has its errno and its reason.
func TestFindRefuses(t *testing.T) {
	f := fileOf(strings.Repeat("\x90", 16), Symbol{Name: "two", Addr: 0x1001, Size: 2}, Symbol{Name: "two", Addr: 0x1003, Size: 2},
		Symbol{Name: "one", Addr: 0x1005, Size: 4}, Symbol{Name: "chosen", Addr: 0x1009, Size: 2, Indirect: true}, Symbol{Name: "away", Addr: 0x9000, Size: 4},
		Symbol{Name: "unchosen_a", Addr: 0x100b, Size: 1}, Symbol{Name: "__chosen_chk", Addr: 0x100c, Size: 1}, Symbol{Name: "chosen_too", Addr: 0x100d, Size: 1, Indirect: true},
		Symbol{Name: "__chosen_a", Addr: 0x100e, Size: 1}, Symbol{Name: "chosen_b", Addr: 0x100f, Size: 1}, Symbol{Name: "other", Addr: 0x100f, Size: 1, Indirect: true})
	for _, c := range []struct {
		symbol string
		offset uint64
		errno  syscall.Errno
		why    string
	}{
		{"none", 0, syscall.ENOENT, "there is no function none"},
		{"one", 4, syscall.EINVAL, "offset 0x4 is beyond the end of one, which has 0x4 bytes"},
		{"one", 1 << 63, syscall.EINVAL, "beyond the end"},
		{"two", 1, syscall.EADDRNOTAVAIL, "there are 2 functions two, at 0x1001 and 0x1003"},
		{"chosen", 0, syscall.EOPNOTSUPP, "chosen is an indirect function (IFUNC): its code runs when the program is linked, and returns the function that calls of chosen reach; probe that one, such as __chosen_a, chosen_b"},
		{"other", 0, syscall.EOPNOTSUPP, "calls of other reach; probe that one, as FILE:OFFSET if it has no name"},
		{"away", 0, syscall.EINVAL, "not in the file"},
		{"", 16, syscall.EINVAL, "no code at offset 0x10"},
	} {
		if spots, err := f.Find(c.symbol, c.offset); !errors.Is(err, c.errno) || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s+%#x: %v, %v", c.symbol, c.offset, spots, err)
		}
	}
	for symbol, offset := range map[string]uint64{"one": 3, "": 8} {
		if spots, err := f.Find(symbol, offset); err != nil || len(spots) != 1 || spots[0].Offset != 8 || spots[0].Addr != 0x1008 {
			t.Errorf("%q+%#x: %+v, %v", symbol, offset, spots, err)
		}
	}
}

// TestVersions: of a function with versions the one that programs are linked with today has the name, and no other
// is lost.
func TestVersions(t *testing.T) {
	f := open(t, libc)
	for _, name := range []string{"realpath", "pthread_cond_signal", "posix_spawn"} {
		spots, err := f.Find(name, 0)
		older := f.Older(name)
		if err != nil || len(spots) != 1 || len(older) == 0 {
			t.Errorf("%s: %+v, %v, %v", name, spots, older, err)
			continue
		}
		before, err := f.Find(older[0], 0)
		if err != nil || len(before) != 1 || before[0].Offset == spots[0].Offset || !strings.HasPrefix(older[0], name+"@GLIBC_") {
			t.Errorf("%s: %+v, %v", older, before, err)
		}
		if got := f.Fitting("*" + name[1:]); len(got) != 1+len(older) {
			t.Errorf("%s: %s fit", name, got)
		}
		if s, _, _ := f.At(spots[0].Addr); strings.Contains(s.Name, "@") {
			t.Errorf("%s is called %s", name, s.Name)
		}
	}
}

// TestOlderVersionsAlone: where programs are linked with none any more, the name stands for all of them.
func TestOlderVersionsAlone(t *testing.T) {
	f := fileOf(strings.Repeat("\x90", 16), Symbol{Name: "gets@V1", Addr: 0x1001, Size: 1}, Symbol{Name: "gets@V2", Addr: 0x1002, Size: 1},
		Symbol{Name: `f[go.shape.struct { A int "x@y" }]`, Addr: 0x1003, Size: 1})
	if spots, err := f.Find("gets", 0); err != nil || len(spots) != 2 {
		t.Error(spots, err)
	}
	if spots, err := f.Find("gets@V2", 0); err != nil || len(spots) != 1 || spots[0].Offset != 2 {
		t.Error(spots, err)
	}
	if got := f.Fitting("gets"); len(got) != 2 {
		t.Error(got)
	}
	if n := len(f.older); n != 1 {
		t.Errorf("%d functions have versions", n)
	}
}

// TestVersionsThatAreNone: lists that lead nowhere, or in a circle, end.
func TestVersionsThatAreNone(t *testing.T) {
	entry := func(number byte, aux, next byte) string {
		return "\x01\x00\x00\x00" + string([]byte{number, 0}) + "\x01\x00\x00\x00\x00\x00" + string([]byte{aux, 0, 0, 0, next, 0, 0, 0})
	}
	for b, want := range map[string]string{
		"": "", "short": "",
		entry(2, 20, 0) + "\x01\x00\x00\x00\x00\x00\x00\x00":  "name",
		entry(2, 20, 28) + "\x01\x00\x00\x00\x00\x00\x00\x00": "name",
		entry(2, 200, 200): "",
		entry(2, 20, 0) + "\xff\xff\xff\xff\x00\x00\x00\x00": "",
	} {
		names := map[uint16]string{}
		if readVersions([]byte(b), "\x00name\x00", names); names[2] != want {
			t.Errorf("%q: %v", b, names)
		}
	}
}

// TestSymbolInAFunction: a symbol that is set to a place in a function has the function's size, and ends with it.
func TestSymbolInAFunction(t *testing.T) {
	// outer: mov $1, %eax; nop; nop; nop; ret. after: movabs $0x1122334455667788, %rax; ret.
	const code = "\xb8\x01\x00\x00\x00\x90\x90\x90\xc3" + "\x48\xb8\x88\x77\x66\x55\x44\x33\x22\x11\xc3"
	f := fileOf(code, Symbol{Name: "outer", Addr: 0x1000, Size: 9, global: true}, Symbol{Name: "inner", Addr: 0x1005, Size: 9},
		Symbol{Name: "after", Addr: 0x1009, Size: 11})
	for off := range uint64(9) {
		begins := off == 0 || off >= 5
		if err := f.Boundary(0x1000 + off); (err == nil) != begins {
			t.Errorf("outer+%#x: %v", off, err)
		}
	}
	if s, err := f.Lookup("inner"); err != nil || s.Size != 4 {
		t.Error(s, err)
	}
	if returns, _, err := f.Returns(Symbol{Name: "inner", Addr: 0x1005, Size: 4}); err != nil || len(returns) != 1 {
		t.Error(returns, err)
	}
	if err := f.Boundary(0x1009); err != nil {
		t.Error(err)
	}
}

// TestSymbolInAnInstruction: where two functions disagree, nothing is taken for an instruction.
func TestSymbolInAnInstruction(t *testing.T) {
	// outer: mov $0x90909090, %eax; nop; ret. inner begins in the number, odd is read as an instruction of 5 bytes.
	const code = "\xb8\x90\x90\x90\x90\x90\xc3" + "\xb8\x01\xb8\x90\x90\xc3\x90\x90\x90"
	f := fileOf(code, Symbol{Name: "outer", Addr: 0x1000, Size: 7}, Symbol{Name: "inner", Addr: 0x1002, Size: 5},
		Symbol{Name: "second", Addr: 0x1007, Size: 8}, Symbol{Name: "odd", Addr: 0x1009, Size: 6})
	for off, begins := range []bool{true, false, false, false, false, true, true, true, false, false, false, false, false, false, true} {
		if err := f.Boundary(0x1000 + uint64(off)); (err == nil) != begins {
			t.Errorf("%#x: %v", off, err)
		}
	}
}

// TestManyFunctions: those of a large program are found in no time, each name once.
func TestManyFunctions(t *testing.T) {
	all := make([]Symbol, 400_000)
	for i := range all {
		all[i] = Symbol{Name: fmt.Sprintf("f%06d", i/2), Addr: 0x1000 + uint64(i), Size: 1}
	}
	quick.Do(t, func() {
		if got := fileOf("", all...).Fitting("f*"); len(got) != len(all)/2 {
			t.Errorf("%d functions", len(got))
		}
	})
}

// TestWrappers: of two functions of Go with one name, that which leads to the other has the linker's.
func TestWrappers(t *testing.T) {
	f := &File{elf: &object{}, funcs: []Symbol{{Name: "a.f", Addr: 0x1000, Size: 4, Go: true}, {Name: "a.f", Addr: 0x2000, Size: 4, Go: true}, {Name: "a.g", Addr: 0x3000, Size: 4, Go: true}}}
	linked := map[string]uint64{"a.f.abi0": 0x2000, "a.g.abi0": 0x3000}
	f.tellApart(linked)
	f.index(linked)
	for name, want := range map[string]uint64{"a.f": 0x1000, "a.f.abi0": 0x2000, "a.g": 0x3000, "a.g.abi0": 0x3000} {
		if all := f.Named(name); len(all) != 1 || all[0].Addr != want {
			t.Errorf("%s: %+v", name, all)
		}
	}
	if got := strings.Join(f.Fitting("a.*"), " "); got != "a.f a.f.abi0 a.g" {
		t.Error(got)
	}
}
