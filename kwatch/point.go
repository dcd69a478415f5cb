package kwatch

import (
	"sync/atomic"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/debugreg"
	"sonde/kernel/probe"
)

// Type is what a watchpoint waits for.
type Type uint8

const (
	Write     Type = iota
	ReadWrite      // reads and writes
	Execute
	// Read is ReadWrite without what changes the value, because the processor cannot
	// watch reads alone. So a write of the value that is there already counts as a read.
	Read
)

// types are what commands and files call the types.
var types = [...]string{Write: "w", ReadWrite: "rw", Execute: "x", Read: "r"}

// String returns w, rw, x or r.
func (t Type) String() string {
	if int(t) < len(types) {
		return types[t]
	}
	return "?"
}

// ParseType is the opposite of String.
func ParseType(s string) (Type, bool) {
	for t, name := range types {
		if s == name {
			return Type(t), true
		}
	}
	return 0, false
}

func (t Type) kind() debugreg.Kind {
	switch t {
	case Write:
		return debugreg.Write
	case Execute:
		return debugreg.Exec
	}
	return debugreg.Access
}

// A Hit is what a handler learns besides the registers.
type Hit struct {
	DebugReg int
	Type     Type
	Addr     uintptr // what is watched
	// IP is the next instruction: of a data watchpoint the one behind that which did it,
	// of an execute watchpoint the watched one. In the copy that a probe made of an
	// instruction the registers have another: this is the original's.
	IP uintptr
	// Old and New are the value before and now, of as many bytes as are watched: see the
	// package comment. Both are 0 for Execute.
	Old, New uint64
	CPU      int
	Goid     uint64 // the goroutine, 0 for none
	TID      int    // the program's thread, if it is a program's memory
}

// A Handler is called at each hit. What it changes in r takes effect.
//
// Context: trap: no allocation, no locks, no channels, no maps. One that breaks the rules
// is abandoned, and its watchpoint takes no more hits.
type Handler func(h *Hit, r *amd64.Regs)

// point is one watchpoint. Only hits change it once it is registered.
type point struct {
	addr    uintptr
	length  int
	typ     Type
	handler Handler
	sse     bool // the handler may change X0-X14

	last uint64 // the value seen last; atomic
	// also is which other watchpoints an access that hits this one hits for certain, and in
	// the bits from beside on those that it may hit; atomic. A processor tells of all, QEMU
	// of the first.
	also uint64
	gone atomic.Bool    // its handler broke the rules
	keep unsafe.Pointer // the object that addr is in; referred to, it stays

	accounts probe.Accounts
	owner    string // the module that registered it

	user *user // of a program's memory; else nil
}

func (p *point) breakpoint() debugreg.Breakpoint {
	return debugreg.Breakpoint{Addr: uint64(p.addr), Kind: p.typ.kind(), Len: uint8(p.length), On: true}
}

// implies reports whether each access that hits p hits q.
func (p *point) implies(q *point) bool {
	return p.typ != Execute && q.typ != Execute && q.addr <= p.addr && p.addr+uintptr(p.length) <= q.addr+uintptr(q.length) &&
		(p.typ == Write || q.typ != Write)
}

// beside is where point.also has the watchpoints that may be hit with it.
const beside = 8

// sees reports whether q, of data like p, is watched in the same memory.
func (p *point) sees(q *point) bool {
	if p.typ == Execute || q.typ == Execute || (p.user == nil) != (q.user == nil) {
		return false
	}
	return p.user == nil || p.user.process == q.user.process
}

// overlaps reports whether p watches any of the n bytes at addr.
func (p *point) overlaps(addr, n uintptr) bool {
	return addr < p.addr+uintptr(p.length) && p.addr < addr+n
}

// changed reports whether bytes of q are among those of p that old and new differ in.
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
