package module

import (
	"maps"
	"slices"
	"strings"
	"syscall"

	"sonde/kernel/refusal"
)

// known returns the module with this name. The caller holds table.mu.
//
// Errors: ENOENT (with similar names), EEXIST two modules have the name.
func known(name string) (*Module, error) {
	m := table.known[name]
	if m == nil {
		return nil, refusal.New(syscall.ENOENT, "no such module%s", perhaps(name, slices.Sorted(maps.Keys(table.known))))
	}
	return m, table.clashes[name]
}

// notLoaded returns the error for a name that no loaded instance has: with the instances of
// the module of this name, or with similar names. The caller holds table.mu.
func notLoaded(name string) error {
	var names, instances []string
	for _, s := range table.loaded {
		names = append(names, s.Name)
		if s.Module.Name == name {
			instances = append(instances, s.Name)
		}
	}
	switch {
	case len(instances) > 0:
		return refusal.New(syscall.ENOENT, "not loaded under this name, but as %s", strings.Join(instances, ", "))
	case table.known[name] != nil:
		return refusal.New(syscall.ENOENT, "not loaded")
	}
	names = append(names, slices.Collect(maps.Keys(table.known))...)
	slices.Sort(names)
	return refusal.New(syscall.ENOENT, "no such module%s", perhaps(name, slices.Compact(names)))
}

// perhaps returns those names that are similar to one, as the end of a message, or says how to list all.
func perhaps(name string, names []string) string {
	near := slices.DeleteFunc(names, func(n string) bool { return !isNear(name, n) })
	if len(near) == 0 {
		return "; lsmod -a lists all"
	}
	return " (did you mean " + strings.Join(near, ", ") + "?)"
}

// isNear reports whether one name is part of the other, or differs in at most two
// characters; "-" and "_" are the same, and a final ".ko" is ignored.
func isNear(name, known string) bool {
	plain := strings.NewReplacer("-", "_")
	name, known = plain.Replace(strings.TrimSuffix(name, ".ko")), plain.Replace(known)
	if name == "" {
		return false
	}
	return strings.Contains(known, name) || strings.Contains(name, known) || distance(name, known) <= 2
}

// distance counts the characters to change, insert or delete to turn a into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
