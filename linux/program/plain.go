package program

import (
	"slices"
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// Limits of names that are made readable: a name of a few bytes can stand for one of gigabytes.
const (
	maxMangled = 4096
	maxPlain   = 12 // as a power of two
)

// Plain returns the name of a function as its source has it: ns::Sq::area(int) for _ZN2ns2Sq4areaEi, of C++ and of
// Rust. Other names are what they are.
func Plain(name string) string {
	if !mangled(name) || len(name) > maxMangled {
		return name
	}
	base, _ := cutVersion(name)
	return demangle.Filter(base, demangle.MaxLength(maxPlain)) + name[len(base):]
}

// readPlain returns where the functions of C++ and Rust are in f.funcs, by their names with parameters and without. Of
// several at one address, as the constructors of a class are, it takes one.
func (f *File) readPlain() map[string][]int {
	all := map[string][]int{}
	for i, s := range f.funcs {
		if !mangled(s.Name) || len(s.Name) > maxMangled {
			continue
		}
		base, older := cutVersion(s.Name)
		whole, bare := Plain(base), demangle.Filter(base, demangle.MaxLength(maxPlain), demangle.NoParams)
		if older || whole == base {
			continue
		}
		for _, name := range slices.Compact([]string{whole, bare}) {
			if same := all[name]; len(same) == 0 || f.funcs[same[len(same)-1]].Addr != s.Addr {
				all[name] = append(same, i)
			}
		}
	}
	return all
}

// mangled tells whether a name may be one of C++ or Rust.
func mangled(name string) bool { return strings.HasPrefix(name, "_Z") || strings.HasPrefix(name, "_R") }
