package kallsyms

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

// longName is a name of n bytes.
func longName(n int, end string) string {
	begin := "sonde/kernel/x.(*Map[go.shape.struct { "
	return begin + strings.Repeat("F", n-len(begin)-len(end)) + end
}

// TestCut: names that are too long are cut, differ, and begin and end as before.
func TestCut(t *testing.T) {
	for _, n := range []int{1, 254, 255} {
		if name := strings.Repeat("a", n); Cut(name) != name {
			t.Errorf("%d bytes: %s", n, Cut(name))
		}
	}
	seen := map[string]bool{}
	for _, name := range []string{longName(256, "]).Load"), longName(300, "]).Load"), longName(301, "]).Load"), longName(1000, "]).Load")} {
		got := Cut(name)
		if len(got) != MaxName || seen[got] || !strings.HasPrefix(got, name[:100]) || !strings.HasSuffix(got, name[len(name)-50:]) || Cut(got) != got {
			t.Errorf("%s", got)
		}
		seen[got] = true
	}
	for i := range 4 {
		if got := Cut(strings.Repeat("a", i) + strings.Repeat("·", 200)); !utf8.ValidString(got) || len(got) > MaxName {
			t.Errorf("%q", got)
		}
	}
}

// TestCutNames: the table, its files and what is typed have one name.
func TestCutNames(t *testing.T) {
	long, other := longName(300, "]).Load"), longName(400, "]).Load")
	table := mustLoad(t, []Symbol{{Name: long, Addr: 0x1000, Size: 8, Type: 'T'}, {Name: other, Addr: 0x2000, Size: 8, Type: 'T'}, {Name: "b", Addr: 0x3000, Size: 8, Type: 'T'}})
	for _, typed := range []string{long, Cut(long), strings.TrimPrefix(Cut(long), "sonde/kernel/")} {
		if s, err := table.Resolve(typed); err != nil || s.Addr != 0x1000 || s.Name != Cut(long) {
			t.Errorf("%s: %+v, %v", typed, s, err)
		}
	}
	if name, _, _, ok := table.Lookup(0x2004); !ok || name != Cut(other) {
		t.Error(name)
	}
	if got := table.Functions("x.*).Load"); len(got) != 2 {
		t.Errorf("%+v", got)
	}
	var b bytes.Buffer
	table.WriteTo(&b)
	table.WriteAliases(&b)
	table.WriteC(&b)
	table.WriteFunctions(&b)
	for line := range strings.Lines(b.String()) {
		fields := strings.SplitN(strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\t[alias]"), " ", 3)
		if name := fields[len(fields)-1]; len(name) > MaxName {
			t.Errorf("%d bytes: %s", len(name), name)
		} else if s, err := table.Resolve(name); err != nil || s.Addr == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
