//go:build tamago

package kprobes

// Trap context. A stack check whose outcome a hit decides, and the probes on the
// instructions of one.

import (
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/prologue"
	"sonde/arch/amd64/trap"
)

// passCheck has r come out of the stack check that s begins with, or, if there are
// probes on further instructions of it, hit those.
func (s *site) passCheck(st *state, id int, r *amd64.Regs) {
	if s.check.Alone(checkCode(&s.check, s.addr)) {
		s.check.Perform(r, uint64(s.addr), false)
		s.finish(st, id, r)
		return
	}
	st.decided, st.decidedSP = s.addr, r.SP
	s.check.Skip(r, uint64(s.addr), checkCode(&s.check, s.addr), 1)
	s.finish(st, id, r)
	goOn(&s.check, r, s.addr)
}

// decided reports whether s is within a stack check that a probe at the entry has
// decided; then r goes on in it, as decided: the check is not made once more.
func (s *site) decided(st *state, r *amd64.Regs) bool {
	head := s.addr - uintptr(s.within)
	if st.decided != head || st.decidedSP != r.SP || !s.around.Fits(r, stackLow(trap.G(r)), stackRoom) {
		return false
	}
	if s.around.Skip(r, uint64(head), checkCode(&s.around, head), s.within+1) {
		st.decided = 0
	}
	return true
}

// goOn has r, within the stack check at addr that has been decided, hit the next
// breakpoint there. It does not go there to hit it: that might be gone by then,
// and the check be made once more, with another outcome.
func goOn(c *prologue.Check, r *amd64.Regs, addr uintptr) {
	for uintptr(r.IP)-addr < uintptr(c.Len) {
		if sites.Find(uintptr(r.IP)) != nil {
			r.IP++
			onBreakpoint(r)
			return
		}
		c.Skip(r, uint64(addr), checkCode(c, addr), uint8(uintptr(r.IP)-addr)+1)
	}
}

// checkCode is the stack check c, which stands at addr, as it is now.
func checkCode(c *prologue.Check, addr uintptr) []byte {
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&addr)), c.Len) // Safe because: text is mapped for good
}
