package uprobes

import "sonde/linux/space"

// A function that is entered by a jump or, as _start, by the kernel has no return address on top of its stack,
// but whatever is there: a number, an argument. It stays as it is. What is no address of code is no return
// address; Linux takes the word for one, and such a program reads the trampoline's address, or returns to it.
//
// Rejected: asking whether a call is in front of that address. Signal handlers and coroutines return to where
// there is none.

// area is one of code that calls return to; the zero value has no address.
type area struct{ from, size uint64 }

// has reports whether an address is in it.
//
// Context: any.
func (a *area) has(addr uint64) bool { return addr-a.from < a.size }

// areas are those seen last, the last first. Only the slow path takes the time to ask the address space.
type areas [8]area

// isCode reports whether calls may return to an address.
func (th *thread) isCode(addr uint64) bool {
	if th.knowsCode(addr) {
		return true
	}
	a, ok := th.text.mem.At(addr)
	if !ok || a.Prot&space.Exec == 0 {
		return false
	}
	all := new(areas)
	if old := th.text.areas.Load(); old != nil {
		copy(all[1:], old[:])
	}
	all[0] = area{a.Start, a.End - a.Start}
	th.code = all[0]
	th.text.areas.Store(all)
	return true
}
