package module

import (
	"maps"
	"slices"
	"strings"
	"syscall"

	"sonde/kallsyms"
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

// perhaps returns those names that are similar to one, as the end of a message, or says how to list all. In what was
// typed "-" is "_", and a final ".ko" is ignored.
func perhaps(name string, names []string) string {
	typed := strings.ReplaceAll(strings.TrimSuffix(name, ".ko"), "-", "_")
	near := kallsyms.Nearest(typed, names)
	for _, n := range names {
		if n == typed || len(typed) > 2 && (strings.Contains(n, typed) || strings.Contains(typed, n)) && !slices.Contains(near, n) {
			near = append(near, n)
		}
	}
	if len(near) == 0 {
		return "; lsmod -a lists all"
	}
	return kallsyms.Hint(near)
}
