package place

import (
	"encoding/binary"
	"syscall"

	"sonde/arch/amd64"
	"sonde/arch/amd64/insn"
	"sonde/kernel/refusal"
)

// SlotSize is how many bytes a slot has: room for any instruction and a jump that
// reaches everywhere.
const SlotSize = 32

// Saved is what a thread keeps while a copy is being executed for it.
type Saved struct{ flags, spare uint64 }

// jumpFar is JMP [RIP+0]; the address follows.
var jumpFar = [...]byte{0xFF, 0x25, 0, 0, 0, 0}

// Slot returns what the slot at an address holds: the copy, and the way back. A copy that
// is stepped seldom needs it: QEMU forgets the #DB after PAUSE, and a MOV to SS holds it off;
// then it comes one instruction later, at the right place.
//
// Errors: ERANGE the slot is too far away to be boosted there. It can be stepped, if that
// is allowed.
func (p *Plan) Slot(at uint64) ([]byte, error) {
	b := make([]byte, p.In.Len, SlotSize)
	code := p.Code[:p.In.Len]
	switch {
	case p.needsSpare(at):
		if p.Way != Step {
			return nil, refusal.New(syscall.ERANGE, "%#x is out of reach of %#x", p.Next()+uint64(p.In.Disp()), at)
		}
		copy(b, code)
		p.respell(b)
	case p.In.Flow == insn.Xbegin:
		rel, ok := insn.Distance(at+uint64(p.In.Len), p.In.Target(p.Addr))
		if !ok {
			return nil, refusal.New(syscall.ERANGE, "%#x is out of reach of %#x", p.In.Target(p.Addr), at)
		}
		copy(b, code)
		binary.LittleEndian.PutUint32(b[p.In.RelOff:], uint32(rel))
	default:
		p.In.CopyTo(b, code, p.Addr, at)
	}
	return p.wayBack(b, at), nil
}

func (p *Plan) wayBack(b []byte, at uint64) []byte {
	if j, ok := insn.Jump(at+uint64(len(b)), p.Next()); ok {
		return append(b, j[:]...)
	}
	return binary.LittleEndian.AppendUint64(append(b, jumpFar[:]...), p.Next())
}

// Enter makes r continue in the slot.
//
// Context: any.
func (p *Plan) Enter(r *amd64.Regs, slot uint64) Saved {
	s := Saved{flags: r.Flags}
	if p.Way == Step {
		r.Flags |= amd64.RFLAGS_TF
		if p.needsSpare(slot) {
			reg := r.Register(p.spare())
			s.spare, *reg = *reg, p.Next()
		}
	}
	r.IP = slot
	return s
}

// After makes r what the instruction leaves, when the thread has come from the slot by
// a #DB or by anything else. An IP that is still that of the copy means that it has not
// been executed, as Undo. Not done: it is one that repeats itself, and not at its end:
// the thread continues in the slot, or Undo lets it begin again with what is left.
//
// Context: any.
func (p *Plan) After(r *amd64.Regs, slot uint64, s Saved) (done bool) {
	if r.IP == slot {
		if p.In.IsRep() {
			return false
		}
		p.Undo(r, slot, s)
		return true
	}
	if ip, ok := p.Back(r.IP, slot); ok {
		r.IP = ip
	}
	if !p.In.IsPopf() && p.In.Flow != insn.Iret {
		p.restoreTF(r, s)
	}
	p.restoreSpare(r, slot, s)
	return true
}

// Undo makes r as it was before Enter, but for what an instruction that repeats itself has
// done: IP is that of the place.
//
// Context: any.
func (p *Plan) Undo(r *amd64.Regs, slot uint64, s Saved) {
	r.IP = p.Addr
	p.restoreTF(r, s)
	p.restoreSpare(r, slot, s)
}

func (p *Plan) restoreTF(r *amd64.Regs, s Saved) {
	if p.Way == Step {
		r.Flags = r.Flags&^amd64.RFLAGS_TF | s.flags&amd64.RFLAGS_TF
	}
}

func (p *Plan) restoreSpare(r *amd64.Regs, slot uint64, s Saved) {
	if p.Way == Step && p.needsSpare(slot) {
		*r.Register(p.spare()) = s.spare
	}
}

// Back returns the IP that the program is to see for one in the slot. Not ok: ip is
// not that of the copy, or after it.
//
// Context: any.
func (p *Plan) Back(ip, slot uint64) (orig uint64, ok bool) {
	switch ip - slot {
	case 0:
		return p.Addr, true
	case uint64(p.In.Len):
		return p.Next(), true
	}
	return ip, false
}
