package kallsyms

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"syscall"

	"sonde/kernel/refusal"
)

var (
	// ErrUnknown says that no symbol has the name.
	ErrUnknown = refusal.New(syscall.ENOENT, "there is no symbol")
	// ErrAmbiguous says that several symbols have the name.
	ErrAmbiguous = refusal.New(syscall.EINVAL, "ambiguous symbol")
)

// maxListed bounds the names that an error message lists.
const maxListed = 10

// Addr returns the symbol with exactly that name.
//
// Errors: ErrUnknown; ErrAmbiguous when several addresses carry the name, as
// file-local symbols may.
func (t *Table) Addr(name string) (Symbol, error) {
	var found []Symbol
	name = Cut(name)
	for i := t.searchName(name); i < t.n && t.name(t.byName(i)) == name; i++ {
		found = appendAddr(found, t.symbol(t.byName(i)))
	}
	switch len(found) {
	case 0:
		return Symbol{}, fmt.Errorf("%w %s", ErrUnknown, name)
	case 1:
		return found[0], nil
	}
	return Symbol{}, ambiguous(name, found)
}

// Resolve finds a symbol by what a user types: the exact name; an alias (Aliases),
// as vfs_File_Read or Linux's name vfs_read; or the end of one that follows a slash
// of its path, if only one symbol fits. So "vfs.(*File).Read" is
// "sonde/kernel/vfs.(*File).Read". A function written in assembly need not be given
// its ".abi0". Ends are what is looked for last, because that reads all names.
//
// Errors: ErrUnknown, with similar names; ErrAmbiguous, with the candidates.
func (t *Table) Resolve(name string) (Symbol, error) {
	if name == "" {
		return Symbol{}, fmt.Errorf("%w with an empty name", ErrUnknown)
	}
	name = Cut(name)
	for _, exact := range [...]string{name, name + abi0} {
		if first := t.searchName(exact); first < t.n && t.name(t.byName(first)) == exact {
			return t.Addr(exact)
		}
	}
	if s, ok := t.alias(name); ok {
		return s, nil
	}
	for _, suffix := range [...]string{name, name + abi0} {
		var found []Symbol
		for i := range t.n {
			if hasPathSuffix(t.name(i), suffix) {
				found = appendAddr(found, t.symbol(i))
			}
		}
		if len(found) == 1 {
			return found[0], nil
		}
		if len(found) > 1 {
			return Symbol{}, ambiguous(name, found)
		}
	}
	return Symbol{}, &unknown{t, name}
}

// abi0 is what the linker appends to the names of assembly functions.
const abi0 = ".abi0"

// Complete returns up to max names that begin with prefix and that Resolve
// understands, sorted: whole names, or their ends after a slash.
func (t *Table) Complete(prefix string, max int) []string {
	var found []string
	for i := t.searchName(prefix); i < t.n && len(found) < max; i++ {
		name := t.name(t.byName(i))
		if !strings.HasPrefix(name, prefix) {
			break
		}
		found = append(found, name)
	}
	for i := 0; i < t.n && prefix != "" && len(found) < 2*max; i++ {
		if tail := suffixWithPrefix(t.name(i), prefix); tail != "" {
			found = append(found, tail)
		}
	}
	slices.Sort(found)
	found = slices.Compact(found)
	return found[:min(len(found), max)]
}

// searchName returns the first position in the name index whose name is not
// less than name.
func (t *Table) searchName(name string) int {
	return sort.Search(t.n, func(i int) bool { return t.name(t.byName(i)) >= name })
}

// hasPathSuffix reports whether suffix is what follows one of the slashes in
// name.
func hasPathSuffix(name, suffix string) bool {
	slash := len(name) - len(suffix) - 1
	return slash >= 0 && name[slash] == '/' && name[slash+1:] == suffix
}

// suffixWithPrefix returns the longest part of name that follows a slash and
// begins with prefix, or "".
func suffixWithPrefix(name, prefix string) string {
	for {
		_, tail, ok := strings.Cut(name, "/")
		if !ok || len(tail) < len(prefix) {
			return ""
		}
		if strings.HasPrefix(tail, prefix) {
			return tail
		}
		name = tail
	}
}

// appendAddr adds s unless a symbol of the same address is there already:
// aliases are not an ambiguity.
func appendAddr(syms []Symbol, s Symbol) []Symbol {
	for _, have := range syms {
		if have.Addr == s.Addr {
			return syms
		}
	}
	return append(syms, s)
}

func ambiguous(name string, found []Symbol) error {
	var list []string
	for _, s := range found[:min(len(found), maxListed)] {
		list = append(list, fmt.Sprintf("%s (%#x)", s.Name, s.Addr))
	}
	if len(found) > maxListed {
		list = append(list, "…")
	}
	return fmt.Errorf("%w %s: %d symbols fit: %s",
		ErrAmbiguous, name, len(found), strings.Join(list, ", "))
}
