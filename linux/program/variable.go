package program

import (
	"syscall"

	"sonde/kernel/refusal"
)

// Kinds of symbols.
const (
	symData = 1
	symTLS  = 6 // each thread has its own
)

// Variable returns the variable of that name: of the C name counter, or of Go's main.counter. Of several a
// global one is meant. Its Addr is in the file.
//
// Errors: ENOENT there is none; EADDRNOTAVAIL there are several, or each thread has its own.
func (f *File) Variable(name string) (found Symbol, err error) {
	n := 0
	for _, s := range append(f.elf.symbols(secSymbols), f.elf.symbols(secDynamic)...) {
		if s.name != name || s.section == symUndefined || s.kind != symData && s.kind != symTLS {
			continue
		}
		if s.kind == symTLS {
			return Symbol{}, refusal.New(syscall.EADDRNOTAVAIL, "each thread has a variable %s of its own", name)
		}
		if n == 0 || found.Addr != s.value && !s.local && !found.global {
			found = Symbol{Name: s.name, Addr: s.value, Size: s.size, global: !s.local}
			n = 1
		} else if found.Addr != s.value && found.global == !s.local {
			n++
		}
	}
	switch {
	case n == 0 && len(f.elf.symbols(secSymbols)) == 0:
		return found, refusal.New(syscall.ENOENT, "there is no variable %s: the file has no names of variables", name)
	case n == 0:
		return found, refusal.New(syscall.ENOENT, "there is no variable %s", name)
	case n > 1:
		return found, refusal.New(syscall.EADDRNOTAVAIL, "%d variables are called %s", n, name)
	}
	return found, nil
}

// Before returns where the instruction in front of addr begins; addr itself if that is not known.
func (f *File) Before(addr uint64) uint64 {
	s, off, ok := f.At(addr - 1)
	if !ok {
		return addr
	}
	begins, err := f.Instructions(s)
	if err != nil {
		return addr
	}
	for i := len(begins) - 1; i >= 0; i-- {
		if begins[i] <= off {
			return s.Addr + begins[i]
		}
	}
	return addr
}
