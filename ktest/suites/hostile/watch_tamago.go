//go:build tamago

package hostile

import (
	"fmt"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/kwatch"
	"sonde/linux/proc"
)

func hit(*kwatch.Hit, *amd64.Regs)      {}
func hitUser(*kwatch.Hit, *proc.Thread) {}
func (s *scene) ends(reg int, what string) { // of a watchpoint that was accepted
	for _, i := range kwatch.All() {
		if i.DebugReg == reg && i.Ledger.Abandoned > 0 {
			s.t.Errorf("%s: %+v", what, i.Ledger)
		}
	}
	s.t.Must(kwatch.UnregisterKwatch(reg))
}

// length is one that can be watched, or not.
func (s *scene) length() int {
	if s.in(3) {
		return int(s.number())
	}
	return pick(s.source, 1, 2, 4, 8)
}

func (s *scene) watchType() kwatch.Type {
	if s.in(6) {
		return kwatch.Type(s.Uint32())
	}
	return pick(s.source, kwatch.Write, kwatch.ReadWrite, kwatch.Execute, kwatch.Read)
}

// object is what a watchpoint may refer to.
var object [64]byte

func (s *scene) watch() (a attempt) {
	typ, length, handler := s.watchType(), s.length(), pick(s.source, hit, hit, hit, nil)
	if typ == kwatch.Execute && !s.in(4) {
		length = 1
	}
	var reg int
	switch s.IntN(32) {
	case 0:
		name, off := s.name(), uintptr(s.number())
		a.what = fmt.Sprintf("RegisterKwatchSymbol %.60q+%#x %d %s", name, off, length, typ)
		reg, a.err = kwatch.RegisterKwatchSymbol(name, off, length, typ, handler)
	case 1, 2, 3, 4:
		var local [8]byte
		p := pick(s.source, nil, unsafe.Pointer(&object[s.IntN(64)]), unsafe.Pointer(&local[s.IntN(8)]), unsafe.Pointer(new(uint64)))
		a.what = fmt.Sprintf("RegisterKwatchObject %p %d %s", p, length, typ)
		reg, a.err = kwatch.RegisterKwatchObject(p, length, typ, handler)
	default:
		addr := s.addr()
		if s.in(2) && length > 0 && length <= 8 {
			addr &^= uintptr(length - 1)
		}
		a.what = fmt.Sprintf("RegisterKwatch %#x %d %s", addr, length, typ)
		if reg, a.err = kwatch.RegisterKwatch(addr, length, typ, handler); a.err == nil && typ == kwatch.Execute && !s.boundary(addr) {
			s.t.Errorf("%s: accepted, where no instruction begins", a.what)
		}
	}
	a.undo = func() { s.ends(reg, a.what) }
	return a
}

func (s *scene) watchUser() (a attempt) {
	p := s.program
	if s.in(20) {
		p = nil
	}
	addr, typ, length, handler := uintptr(s.userAddr()), s.watchType(), s.length(), pick(s.source, hitUser, hitUser, nil)
	var reg int
	a.what = fmt.Sprintf("RegisterKwatchUser %v %#x %d %s", p != nil, addr, length, typ)
	reg, a.err = kwatch.RegisterKwatchUser(p, addr, length, typ, handler)
	a.undo = func() { s.ends(reg, a.what) }
	return a
}

// unwatch ends what is not watched: the registers in use are others'.
func (s *scene) unwatch() attempt {
	n := int(s.number())
	if n >= 0 && n < 4 {
		n = -1
	}
	a := attempt{what: fmt.Sprint("UnregisterKwatch ", n), err: kwatch.UnregisterKwatch(n)}
	if a.err == nil {
		s.t.Errorf("%s: accepted", a.what)
	}
	return a
}
