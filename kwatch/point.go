package kwatch

import (
	"sync/atomic"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/debugreg"
	"sonde/probe/attach"
	"sonde/probe/ledger"
)

// Type is the kind of access that a watchpoint reports.
type Type = attach.Access

// The types: see package attach.
const (
	Write     = attach.Write
	ReadWrite = attach.ReadWrite
	Execute   = attach.Execute
	Read      = attach.Read
)

// kindOf returns what the processor is to watch for t.
func kindOf(t Type) debugreg.Kind {
	switch t {
	case Write:
		return debugreg.Write
	case Execute:
		return debugreg.Exec
	}
	return debugreg.Access
}

// A Hit is what a handler is given besides the registers.
type Hit struct {
	DebugReg int
	Type     Type
	Addr     uintptr // the watched address
	// IP is the address of the next instruction: for a data watchpoint the one after the
	// access, for an execute watchpoint the watched one. If the registers are in a probe's
	// copy of an instruction, this is the original address.
	IP uintptr
	// Old and New are the values before and after, of as many bytes as are watched: see the
	// package comment. Both are 0 for Execute.
	Old, New uint64
	CPU      int
	Goid     uint64 // the goroutine, 0 for none
	TID      int    // the program's thread, if a program's memory is watched
}

// A Handler is called at each hit. Changes to r take effect.
//
// Context: trap: it must not allocate, lock, or use channels or maps. A handler that breaks
// the rules is abandoned, and its watchpoint gets no more hits.
type Handler func(h *Hit, r *amd64.Regs)

// point is one watchpoint. After registration, only hits change it.
type point struct {
	addr    uintptr
	length  int
	typ     Type
	handler Handler
	code    uintptr // the handler's
	careful bool    // the handler may change X0-X14, IP or SP

	last uint64 // the last value read; atomic
	// also is the set of other watchpoints that an access which hits this one also hits; in
	// the bits from beside on, the set of those that it may hit. Atomic. A processor
	// reports all of them, QEMU only the first.
	also     uint64
	gone     atomic.Bool    // its handler was abandoned, or its program has ended
	disabled atomic.Bool    // by EnableKwatch: no CPU watches for it
	leaving  bool           // it is being unregistered: no CPU is to watch for it any more; guarded by mu
	keep     unsafe.Pointer // the object that contains addr, so that it stays in place

	reg      int // its debug register
	accounts ledger.Accounts
	blind    uint64        // machine.blind when it was registered
	owner    string        // the module that registered it
	camera   *Camera       // called in place of handler; nil: none
	place    *attach.Place // whose link's handler is called; nil: handler is the user's

	user program // whose memory it is in; nil: the kernel's
}

// A program has the memory that a watchpoint is in (user.go).
type program interface {
	pid() int
	// handled reports whether it has a handler.
	handled() bool
	// shares reports whether other is the same process.
	shares(other program) bool
	// read returns the value that p watches, or false if the page is not in memory.
	read(p *point) (v uint64, ok bool)
	// film makes c be called in place of the handler, until restore is called.
	film(c *Camera) (restore func())
	// attached is called when p has its register, before any CPU watches for it; detached when it is not
	// registered any more: no handler runs afterwards.
	attached(p *point)
	detached()
}

func (p *point) breakpoint() debugreg.Breakpoint {
	return debugreg.Breakpoint{Addr: uint64(p.addr), Kind: kindOf(p.typ), Len: uint8(p.length), On: true}
}

// called returns the user's handler.
func (p *point) called() any {
	if p.place != nil {
		return p.place.Link.Handler
	}
	return p.handler
}

// implies reports whether each access that hits p hits q.
func (p *point) implies(q *point) bool {
	return p.typ != Execute && q.typ != Execute && q.addr <= p.addr && p.addr+uintptr(p.length) <= q.addr+uintptr(q.length) &&
		(p.typ == Write || q.typ != Write)
}

// beside is the first bit in point.also for watchpoints that may be hit together with it.
const beside = 8

// sees reports whether q, a data watchpoint like p, watches the same memory.
func (p *point) sees(q *point) bool {
	if p.typ == Execute || q.typ == Execute || (p.user == nil) != (q.user == nil) {
		return false
	}
	return p.user == nil || p.user.shares(q.user)
}

// overlaps reports whether p watches any of the n bytes at addr.
func (p *point) overlaps(addr, n uintptr) bool {
	return addr < p.addr+uintptr(p.length) && p.addr < addr+n
}

// changed reports whether q watches bytes of p that differ between old and new.
func (p *point) changed(q *point, old, new uint64) bool {
	for i := range uintptr(p.length) {
		if byte(old>>(8*i)) != byte(new>>(8*i)) && q.overlaps(p.addr+i, 1) {
			return true
		}
	}
	return false
}

// points are the watchpoints by debug register. Hits read them.
var points [debugreg.Num]atomic.Pointer[point]
