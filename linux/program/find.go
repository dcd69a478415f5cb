package program

import (
	"slices"
	"strings"
	"syscall"

	"sonde/kallsyms"
	"sonde/kernel/refusal"
)

// Spot is an instruction of a file.
type Spot struct {
	Fn     Symbol // the function that was named; the zero Symbol if only a place was
	Addr   uint64
	Offset uint64 // in the file
}

// Find returns the instructions that a place of the file stands for: those at an offset from the beginning of the
// functions of that name (see Named), or from that of the file if symbol is "".
//
// Errors: ENOENT there is no such function; EINVAL the offset is beyond its end, or that of no code;
// EADDRNOTAVAIL an offset in one of several functions; EOPNOTSUPP the function is indirect (IFUNC).
func (f *File) Find(symbol string, offset uint64) ([]Spot, error) {
	if symbol == "" {
		addr, ok := f.Vaddr(offset)
		if !ok {
			return nil, refusal.New(syscall.EINVAL, "there is no code at offset %#x", offset)
		}
		return []Spot{{Addr: addr, Offset: offset}}, nil
	}
	found := f.Named(symbol)
	switch {
	case len(found) == 0:
		return nil, none(symbol)
	case len(found) > 1 && offset != 0:
		return nil, several(symbol, found)
	}
	spots := make([]Spot, len(found))
	for i, s := range found {
		if err := spots[i].find(f, s, offset); err != nil {
			return nil, err
		}
	}
	return spots, nil
}

// FindOne is Find for one function. Of several a global one is meant.
//
// Errors: those of Find; EADDRNOTAVAIL there are several functions.
func (f *File) FindOne(symbol string, offset uint64) (at Spot, err error) {
	s, err := f.Lookup(symbol)
	if err == nil {
		err = at.find(f, s, offset)
	}
	return at, err
}

// find finds the instruction at an offset in a function.
func (at *Spot) find(f *File, s Symbol, offset uint64) (err error) {
	switch {
	case offset >= max(s.Size, 1):
		return refusal.New(syscall.EINVAL, "offset %#x is beyond the end of %s, which has %#x bytes", offset, s.Name, s.Size)
	case s.Indirect:
		return f.indirect(s.Name)
	}
	at.Fn, at.Addr = s, s.Addr+offset
	var ok bool
	if at.Offset, ok = f.Offset(at.Addr); !ok {
		return refusal.New(syscall.EINVAL, "%s+%#x is not in the file", s.Name, offset)
	}
	return nil
}

// maxOffered is how many variants of an indirect function are named.
const maxOffered = 5

// indirect says what an indirect function is, and which others are its variants, by their names: memcpy's are
// __memcpy_avx_unaligned and so on.
func (f *File) indirect(name string) error {
	plain, _, _ := strings.Cut(name, "@")
	variants := slices.DeleteFunc(f.Fitting("*"+plain+"_*"), func(other string) bool {
		return f.Named(other)[0].Indirect || !strings.HasPrefix(strings.TrimLeft(other, "_"), plain+"_") || strings.HasSuffix(other, "_chk")
	})
	which := "as FILE:OFFSET if it has no name"
	if n := len(variants); n > 0 {
		which = "such as " + strings.Join(variants[:min(n, maxOffered)], ", ")
	}
	return refusal.New(syscall.EOPNOTSUPP, "%s is an indirect function (IFUNC): its code runs when the program is linked, and returns the function that calls of %s reach; probe that one, %s", name, plain, which)
}

// Named returns the functions of that name, by address. Several files of a program may each have a static one. Of a
// function with versions, NAME is the one that programs are linked with today, and NAME@VERSION an older one; of one
// that has only older ones, NAME is all of them. A function of C++ or Rust has the name in its source, too; without
// parameters, that is all of those that differ in them.
func (f *File) Named(name string) (found []Symbol) {
	if name == "" {
		return nil
	}
	all := f.names[name]
	if all == nil {
		all = f.older[name]
	}
	if all == nil {
		all = f.plain()[name]
	}
	for _, i := range all {
		found = append(found, f.funcs[i])
	}
	return found
}

// Older returns the names of the older versions of a function, as NAME@VERSION.
func (f *File) Older(name string) (names []string) {
	for _, i := range f.older[name] {
		names = append(names, f.funcs[i].Name)
	}
	return names
}

// Lookup returns the one function of that name. Of several a global one is meant.
//
// Errors: ENOENT there is none; EADDRNOTAVAIL there are several.
func (f *File) Lookup(name string) (Symbol, error) {
	var found []Symbol
	for _, s := range f.Named(name) {
		if len(found) == 0 || s.global == found[0].global {
			found = append(found, s)
		} else if s.global {
			found = []Symbol{s}
		}
	}
	switch {
	case len(found) == 0:
		return Symbol{}, none(name)
	case len(found) > 1:
		return Symbol{}, several(name, found)
	}
	return found[0], nil
}

func none(name string) error { return refusal.New(syscall.ENOENT, "there is no function %s", name) }

func several(name string, found []Symbol) error {
	return refusal.New(syscall.EADDRNOTAVAIL, "there are %d functions %s, at %#x and %#x: give the place as FILE:OFFSET", len(found), name, found[0].Addr, found[1].Addr)
}

// Fitting returns the names of the functions that fit a pattern, as kallsyms.Fits says, each once, by address. That of
// an older version fits with what follows the @ and without; that of a function of C++ or Rust also as in its source.
func (f *File) Fitting(pattern string) (names []string) {
	known := map[string]bool{}
	for _, s := range f.funcs {
		base, _ := cutVersion(s.Name)
		if !known[s.Name] && (kallsyms.Fits(pattern, s.Name) || kallsyms.Fits(pattern, base) || mangled(base) && kallsyms.Fits(pattern, Plain(base))) {
			known[s.Name] = true
			names = append(names, s.Name)
		}
	}
	return names
}

// cutVersion cuts the name of an older version. Names in Go have no @ but in quotes.
func cutVersion(name string) (base string, older bool) {
	base, version, older := strings.Cut(name, "@")
	if strings.ContainsAny(version, `" `) {
		return name, false
	}
	return base, older
}
