package kallsyms

import (
	"slices"
	"sort"
	"strings"
)

// Functions returns the functions whose names fit pattern, in the order of their addresses.
// A star stands for any characters; as everywhere, a name may be cut at any slash: vfs.*
// fits all of sonde/kernel/vfs. If no name fits, those whose aliases do are meant: vfs_*.
func (t *Table) Functions(pattern string) (list []Symbol) {
	for s := range t.Text {
		if s.Size > 0 && Fits(pattern, s.Name) {
			list = append(list, s)
		}
	}
	if list == nil && isC(strings.ReplaceAll(pattern, "*", "_")) {
		for _, a := range t.Aliases() {
			if t.isFunction(a.Symbol) && glob(pattern, a.Name) {
				list = append(list, a.Symbol)
			}
		}
		sort.Slice(list, func(i, j int) bool { return list[i].Addr < list[j].Addr })
	}
	return slices.CompactFunc(list, func(a, b Symbol) bool { return a.Addr == b.Addr })
}

// Fits reports whether name, or what follows one of its slashes, fits pattern.
func Fits(pattern, name string) bool {
	for {
		if glob(pattern, name) {
			return true
		}
		_, rest, ok := strings.Cut(name, "/")
		if !ok {
			return false
		}
		name = rest
	}
}

// glob looks for what stands between stars at the first place where it is: later ones leave less for the rest.
func glob(pattern, name string) bool {
	begin, rest, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == name
	}
	name, ok := strings.CutPrefix(name, begin)
	for ok {
		part, more, star := strings.Cut(rest, "*")
		if !star {
			return strings.HasSuffix(name, rest)
		}
		_, name, ok = strings.Cut(name, part)
		rest = more
	}
	return false
}
