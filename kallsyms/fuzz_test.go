package kallsyms

import (
	"errors"
	"strings"
	"testing"
)

// FuzzResolve: whatever a user types, the answer is a symbol of that name, or an error that says
// whether none or several have it; and each completion is a name that Resolve knows.
func FuzzResolve(f *testing.F) {
	for _, name := range []string{"", "vfs.Read", "vfs.Raed", "local", "memmov", "mm.Map[go.shape.int]", "[/", "sonde/", strings.Repeat("v", 70)} {
		f.Add(name)
	}
	table := mustLoad(f, append(sample(), Symbol{Name: "sonde/x.copy.abi0", Addr: 0x4000, Size: 16, Type: 'T'}))
	f.Fuzz(func(t *testing.T, name string) {
		s, err := table.Resolve(name)
		have := strings.TrimSuffix(s.Name, abi0)
		switch wanted := strings.TrimSuffix(name, abi0); {
		case errors.Is(err, ErrUnknown) != errors.Is(err, ErrAmbiguous):
		case err != nil || have != wanted && !strings.HasSuffix(have, "/"+wanted):
			t.Errorf("Resolve(%q) = %+v, %v", name, s, err)
		}
		if near := table.Near(name); len(near) > maxNear {
			t.Errorf("near(%q) = %q", name, near)
		}
		for _, c := range table.Complete(name, 5) {
			if _, err := table.Resolve(c); !strings.HasPrefix(c, name) || errors.Is(err, ErrUnknown) {
				t.Errorf("Complete(%q) offers %q: %v", name, c, err)
			}
		}
	})
}
