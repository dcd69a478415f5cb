//go:build tamago

package types

import (
	"fmt"
	"slices"
	"strings"

	"sonde/gotypes"
	"sonde/kallsyms"
	"sonde/kernel/goruntime"
)

// Variable names what is at an address, which is of the type leaf: a variable of the kernel, or the field of an object on the
// heap, as in vfs.File.mu. stack are the calls that lead to its use, the latest first. The heap keeps no types of small
// objects: theirs are those of their size that have such a field where it is, in the package that uses it; several are
// joined by "or". "": it is not known.
func Variable(addr uint64, leaf string, stack []uint64) string {
	table, err := Kernel()
	if err != nil {
		return ""
	}
	if s, ok := kallsyms.Kernel().At(addr); ok {
		return static(table, s, int(addr-s.Addr), leaf)
	}
	begin, least, most, typ := goruntime.Object(uintptr(addr))
	if most == 0 {
		return ""
	}
	off := int(uintptr(addr) - begin)
	known, _ := described()
	if id, err := table.Named(known.TypeName(uint64(typ))); err == nil {
		if path, _, ok := table.FieldAt(id, off%max(1, table.Type(id).Size), leaf); ok {
			return called(table, id) + path
		}
	}
	fit := table.WithField(off, leaf, int(least), int(most))
	return spell(table, choose(table, fit, off, leaf, stack), off, leaf)
}

// static names what is at an offset in a variable.
func static(t *gotypes.Table, s kallsyms.Symbol, off int, leaf string) string {
	name := kallsyms.Base(s.Name)
	var paths []string
	for _, id := range t.WithField(off, leaf, int(s.Size), int(s.Size)) {
		path, owner, _ := t.FieldAt(id, off, leaf)
		if kallsyms.Package(t.Type(owner).Name) == kallsyms.Package(s.Name) && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	switch {
	case off == 0 && len(paths) != 1:
		return name
	case len(paths) != 1:
		return fmt.Sprintf("%s+%#x", name, off)
	}
	return name + paths[0]
}

// choose returns those of some types whose field is of a package that a stack leads through, the latest first; of these, those that a
// function there takes, if there are any.
func choose(t *gotypes.Table, fit []gotypes.ID, off int, leaf string, stack []uint64) (chosen []gotypes.ID) {
	for _, ip := range stack {
		name, at, _, ok := kallsyms.Lookup(ip - 1)
		if !ok {
			continue
		}
		if len(chosen) == 0 {
			chosen = only(fit, func(id gotypes.ID) bool {
				_, owner, _ := t.FieldAt(id, off, leaf)
				return kallsyms.Package(t.Type(owner).Name) == kallsyms.Package(name)
			})
		}
		params, _, _ := t.Declaration(ip - 1 - at)
		taken := only(chosen, func(id gotypes.ID) bool {
			return slices.ContainsFunc(params, func(p gotypes.Param) bool { return t.Type(p.Type).Elem == id })
		})
		if len(taken) > 0 {
			return taken
		}
	}
	return chosen
}

func only(ids []gotypes.ID, f func(gotypes.ID) bool) []gotypes.ID {
	return slices.DeleteFunc(slices.Clone(ids), func(id gotypes.ID) bool { return !f(id) })
}

// mostNames is how many types are named that may be meant.
const mostNames = 3

func spell(t *gotypes.Table, of []gotypes.ID, off int, leaf string) string {
	var names []string
	for _, id := range of {
		path, _, _ := t.FieldAt(id, off, leaf)
		names = append(names, called(t, id)+path)
	}
	if len(names) > mostNames {
		names = append(names[:mostNames], "another")
	}
	return strings.Join(names, " or ")
}

// called is the name of a type as people write it, without the types that it was made for, which may take hundreds of columns.
func called(t *gotypes.Table, id gotypes.ID) string {
	name, _, generic := strings.Cut(t.Type(id).Name, "[")
	if name = gotypes.Short(name); generic {
		name += "[...]"
	}
	return name
}
