package kallsyms

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "ab", 2},
		{"ab", "", 2},
		{"vfs.Read", "vfs.read", 0},
		{"vfs.read", "vfs.raed", 1}, // neighbours that changed places
		{"grep", "grpe", 1},
		{"grep", "rgpe", 2},
		{"vfs.named", "vfs.raed", 2},
		{"ca", "abc", maxDistance + 1}, // no character is edited twice
		{"abcd", "wxyz", maxDistance + 1},
		{strings.Repeat("x", maxEditLen+1), "x", maxDistance + 1},
		{"abcdef", "badcfe", maxDistance + 1},
		{"aXbcdefg", "acbdefg", 2}, // an insertion and a transposition
	} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

// TestNearNames: only names at the least distance are offered, none that the compiler made, and at
// most three.
func TestNearNames(t *testing.T) {
	var syms []Symbol
	for i, name := range []string{
		"sonde/kernel/vfs.Read",
		"sonde/kernel/vfs.Rdad", // two edits
		"sonde/linux/sock.Socket.sonde/kernel/vfs.named",
		"sonde/linux/sock.(*Socket).sonde/kernel/vfs.aed",
		"os.(*File).internal/vfs.read",
		"type:.eq.sonde/kernel/vfs.Red",
		"golang.org/x/near.Near",
		"a/x.Fool", "b/x.Fool", "c/x.Fool", "d/x.Fool",
		"sonde/kernel/vfs.Close.deferwrap1",
		"sonde/kernel/vfs.CloseAndSync",
		"sonde/kernel/vfs.CloseAndSyncAll",
	} {
		syms = append(syms, Symbol{Name: name, Addr: uint64(0x1000 + 16*i), Size: 16, Type: 'T'})
	}
	table := mustLoad(t, syms)
	for _, c := range []struct {
		typed string
		want  []string
	}{
		{"vfs.Raed", []string{"sonde/kernel/vfs.Read"}},
		{"vfs.rdaed", []string{"sonde/kernel/vfs.Rdad"}},
		{"near.Naer", []string{"golang.org/x/near.Near"}},
		{"x.Foll", []string{"a/x.Fool", "b/x.Fool", "c/x.Fool"}},
		{"vfs.Close", []string{"sonde/kernel/vfs.CloseAndSync"}},
		{"nothing.Like", nil},
	} {
		if got := table.Near(c.typed); !slices.Equal(got, c.want) {
			t.Errorf("near(%q) = %q, want %q", c.typed, got, c.want)
		}
	}
}

// TestUnknownIsCheap: similar names of one that is unknown are looked for when somebody reads of them.
func TestUnknownIsCheap(t *testing.T) {
	table := mustLoad(t, []Symbol{{Name: "sonde/kernel/vfs.Read", Addr: 0x1000, Size: 16, Type: 'T'}})
	var err error
	resolve := func() { _, err = table.Resolve("vfs.Raed") }
	if n := testing.AllocsPerRun(10, resolve); n > 2 {
		t.Errorf("an unknown name takes %v allocations: the error and the name of an assembly function take 2", n)
	}
	if want := `there is no symbol vfs.Raed (did you mean sonde/kernel/vfs.Read?)`; !errors.Is(err, ErrUnknown) || err.Error() != want {
		t.Error(err)
	}
}

func TestNearest(t *testing.T) {
	names := []string{"free", "grep", "true", "grep", "tr"}
	for typed, want := range map[string][]string{"grpe": {"grep"}, "rt": {"tr"}, "tx": {"tr"}, "fref": {"free"}, "xx": nil, "grep": {"free"}} {
		if got := Nearest(typed, names); !slices.Equal(got, want) {
			t.Errorf("Nearest(%q) = %q, want %q", typed, got, want)
		}
	}
}
