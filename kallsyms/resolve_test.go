package kallsyms

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func TestResolve(t *testing.T) {
	table := mustLoad(t, sample())
	for _, c := range []struct{ name, want string }{
		{"runtime.memmove", "runtime.memmove"},
		{"sonde/kernel/vfs.Read", "sonde/kernel/vfs.Read"},
		{"kernel/vfs.Read", "sonde/kernel/vfs.Read"},
		{"vfs.(*File).Read", "sonde/kernel/vfs.(*File).Read"},
		{"mm.Map[go.shape.int]", "sonde/kernel/mm.Map[go.shape.int]"},
		{"kernel.ticks", "sonde/kernel.ticks"},
	} {
		if got, err := table.Resolve(c.name); err != nil || got.Name != c.want {
			t.Errorf("Resolve(%q) = %q, %v; want %q", c.name, got.Name, err, c.want)
		}
	}
}

func TestResolveErrorsSayWhatWouldFit(t *testing.T) {
	table := mustLoad(t, sample())
	for _, c := range []struct {
		name  string
		is    error
		errno syscall.Errno
		says  []string
	}{
		{"vfs.Read", ErrAmbiguous, syscall.EINVAL, []string{"2 symbols", "sonde/kernel/vfs.Read", "sonde/user/vfs.Read"}},
		{"local", ErrAmbiguous, syscall.EINVAL, []string{"0x3010", "0x3020"}},
		{"fs.Read", ErrUnknown, syscall.ENOENT, nil}, // a suffix begins after a slash
		{"memmov", ErrUnknown, syscall.ENOENT, []string{"runtime.memmove"}},
		{"vfs.Raed", ErrUnknown, syscall.ENOENT, []string{"sonde/kernel/vfs.Read"}},
		{"runtime.memmvoe", ErrUnknown, syscall.ENOENT, []string{"runtime.memmove"}},
		{"zzzzzzzzzzzz", ErrUnknown, syscall.ENOENT, []string{"there is no symbol zzzzzzzzzzzz"}},
		{"", ErrUnknown, syscall.ENOENT, nil},
	} {
		_, err := table.Resolve(c.name)
		if !errors.Is(err, c.is) || !errors.Is(err, c.errno) {
			t.Errorf("Resolve(%q) = %v", c.name, err)
			continue
		}
		contains(t, err, c.says...)
	}
}

func TestAmbiguousListIsBounded(t *testing.T) {
	var syms []Symbol
	for i := range 50 {
		syms = append(syms, Symbol{Name: fmt.Sprintf("p%d/f.G", i), Addr: uint64(0x1000 + i), Size: 1, Type: 'T'})
	}
	_, err := mustLoad(t, syms).Resolve("f.G")
	contains(t, err, "50 symbols", "…")
	if n := strings.Count(err.Error(), "/f.G"); n != maxListed {
		t.Errorf("%d candidates listed", n)
	}
}

func TestAliasesAreNotAmbiguous(t *testing.T) {
	table := mustLoad(t, []Symbol{
		{Name: "a/x.F", Addr: 0x10, Size: 4, Type: 'T'},
		{Name: "b/x.F", Addr: 0x10, Size: 4, Type: 'T'},
	})
	if got, err := table.Resolve("x.F"); err != nil || got.Addr != 0x10 {
		t.Error(got, err)
	}
}

func TestComplete(t *testing.T) {
	table := mustLoad(t, sample())
	for _, c := range []struct {
		prefix string
		max    int
		want   []string
	}{
		{"runtime.m", 9, []string{"runtime.memmove"}},
		{"vfs.", 9, []string{"vfs.(*File).Read", "vfs.File", "vfs.Read"}},
		{"vfs.", 1, []string{"vfs.(*File).Read"}},
		{"kernel/m", 9, []string{"kernel/mm.Map[go.shape.int]"}},
		{"nope", 9, nil},
	} {
		if got := table.Complete(c.prefix, c.max); !slices.Equal(got, c.want) {
			t.Errorf("Complete(%q, %d) = %q, want %q", c.prefix, c.max, got, c.want)
		}
	}
}

func TestNamedYieldsWhatBeginsAlike(t *testing.T) {
	table := mustLoad(t, sample())
	for _, c := range []struct {
		prefix string
		want   []string
	}{
		{"runtime.", []string{"runtime.etext", "runtime.memmove", "runtime.text"}},
		{"sonde/kernel/vfs.R", []string{"sonde/kernel/vfs.Read"}},
		{"vfs.", nil},
		{"zzz", nil},
	} {
		var got []string
		for s := range table.Named(c.prefix) {
			got = append(got, s.Name)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("Named(%q): %q, want %q", c.prefix, got, c.want)
		}
	}
	for s := range table.Named("") {
		if s.Name != "entry_stub" {
			t.Errorf("the first of all names is %q", s.Name)
		}
		break
	}
}

func TestAssemblyFunctionsNeedNoABI(t *testing.T) {
	table, err := Load(Encode([]Symbol{
		{Name: "sonde/x.copy.abi0", Addr: 0x1000, Size: 16, Type: 'T'},
		{Name: "sonde/y.both", Addr: 0x2000, Size: 16, Type: 'T'},
		{Name: "sonde/y.both.abi0", Addr: 0x3000, Size: 16, Type: 'T'},
	}))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]uint64{"sonde/x.copy": 0x1000, "x.copy": 0x1000, "x.copy.abi0": 0x1000, "y.both": 0x2000} {
		if s, err := table.Resolve(name); err != nil || s.Addr != want {
			t.Errorf("%s: %#x, %v; want %#x", name, s.Addr, err, want)
		}
	}
}
