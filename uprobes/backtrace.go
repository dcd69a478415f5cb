package uprobes

import (
	"fmt"

	"sonde/arch/amd64"
	"sonde/linux/program"
	"sonde/linux/program/unwind"
	"sonde/linux/space"
	"sonde/uprobes/images"
)

// Caller is a function of a program that has not returned.
type Caller struct {
	PC       uint64
	Path     string // its file; "" if it is in none
	Function string // "" if it is not known
	Offset   uint64 // of PC in the function
}

// String returns "function+0x10 (path)".
func (c Caller) String() string {
	switch {
	case c.Path == "":
		return fmt.Sprintf("%#x", c.PC)
	case c.Function == "":
		return fmt.Sprintf("%#x (%s)", c.PC, c.Path)
	}
	return fmt.Sprintf("%s+%#x (%s)", c.Function, c.Offset, c.Path)
}

// Backtrace returns the functions that lead to r, innermost first, at most most of them.
// For functions with return probes it shows the callers that they will return to.
//
// Context: a handler of a user probe that was given r; elsewhere it returns nothing.
func Backtrace(r *amd64.Regs, most int) []Caller {
	th := handling()
	if th == nil {
		return nil
	}
	mem := th.t.Memory()
	areas := mem.Areas()
	in := func(pc uint64) (space.Area, bool) {
		for _, a := range areas {
			if pc >= a.Start && pc < a.End {
				return a, true
			}
		}
		return space.Area{}, false
	}
	mu.Lock()
	defer mu.Unlock()
	s := unwind.Stack{
		Read: func(b []byte, addr uint64) bool { return mem.In(b, addr) == nil },
		Real: func(slot, ra uint64) uint64 { return th.real(ra, slot) },
		File: func(pc uint64) (*program.File, uint64, bool) {
			a, ok := in(pc)
			if !ok || a.Prot&space.Exec == 0 {
				return nil, 0, false
			}
			im, bias := images.In(a)
			if im == nil {
				return nil, 0, true
			}
			return im.File, bias, true
		},
	}
	var all []Caller
	for _, f := range s.Walk(r, most) {
		c := Caller{PC: f.PC}
		if a, ok := in(f.PC); ok {
			c.Path = a.Ident.Name
		}
		if s, off, ok := f.Symbol(); ok {
			c.Function, c.Offset = s.Name, off
		}
		all = append(all, c)
	}
	return all
}
