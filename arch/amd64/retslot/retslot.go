// Package retslot finds the functions that use their own return address.
//
// A return probe replaces the return address of a call. The runtime's unwinder learns the
// real one (boot/overlay, sonde_ret.go), but a function may also read the slot itself:
// sys.GetCallerPC compiles to that, and some assembly does it. Such a function must ask for
// the real address, or it must not have a return probe.
//
// Scan follows the code and the few values that can lead to the slot: the distance of the
// stack pointer from it, and each register that was computed from the stack pointer using
// constants only. It does not follow values through memory, and it does not know what a
// callee does with the slot's address.
//
// Rejected: the frame sizes of pclntab. They give the stack pointer but not the registers,
// and assembly reads the slot through a register. Also: refusing every function that reads its
// return address. Then gopanic, chansend1 and newproc could not have return probes; the overlay
// has them ask (sondeCallerPC).
package retslot

import "sonde/arch/amd64/insn"

// Use is how a function uses the slot of its own return address.
type Use struct {
	Slot  []int    // offsets of the instructions that read or write the slot
	Calls []uint64 // targets of its direct calls, one for each call
	Tails []uint64 // targets of its jumps out of itself with the slot on top of the stack
}

// Scan returns how the function with this code, at addr, uses its slot.
//
// Errors: those of insn.Decode, for the first instruction that does not decode.
func Scan(addr uint64, code []byte) (Use, error) {
	s := scan{addr: addr, code: code, at: make([]*values, len(code))}
	if _, err := insn.Walk(code, func(off int, in insn.Inst) bool {
		s.insts = append(s.insts, inst{in, off})
		return true
	}); err != nil {
		return Use{}, err
	}
	s.from(0, entry())
	s.rest()
	s.look()
	return s.use, nil
}

// An inst is an instruction of the function and its offset.
type inst struct {
	insn.Inst
	off int
}

// scan is the state of a Scan.
type scan struct {
	addr  uint64
	code  []byte
	insts []inst
	at    []*values // what is known before the instruction at an offset; nil: not reached
	use   Use
}

// from records that the instruction at off is reached with v, and continues from there until
// nothing changes. Knowledge about a place only ever shrinks, so this ends.
func (s *scan) from(off int, v values) {
	type place struct {
		off int
		v   values
	}
	for todo := []place{{off, v}}; len(todo) > 0; {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if p.off < 0 || p.off >= len(s.code) || !s.merge(p.off, p.v) {
			continue
		}
		in, err := insn.Decode(s.code[p.off:])
		if err != nil {
			continue
		}
		next := *s.at[p.off]
		next.do(&in)
		if in.Flow.FallsThrough() || returns(in.Flow) {
			todo = append(todo, place{p.off + int(in.Len), next})
		}
		if in.Flow != insn.Call && in.Flow.Direct() { // the next that is looked at: see merge
			todo = append(todo, place{int(in.Target(uint64(p.off))), next})
		}
	}
}

// returns reports whether execution may continue after an instruction that leads elsewhere.
func returns(f insn.Flow) bool {
	return f == insn.Call || f == insn.CallInd || f == insn.Int || f == insn.Syscall || f == insn.Hlt
}

// merge reports whether v reduces the knowledge about off. For SP the first value counts: the code
// after a call that never returns, such as a panic, is also reached by a jump, which was followed
// first.
func (s *scan) merge(off int, v values) bool {
	old := s.at[off]
	if old == nil {
		s.at[off] = &v
		return true
	}
	changed := false
	for r := range old {
		if r != int(insn.RSP) && old[r].known && old[r] != v[r] {
			old[r].known, changed = false, true
		}
	}
	return changed
}

// rest continues with code that direct jumps do not reach: the targets of jump tables, and the
// place where a recovered panic resumes. The frame is set up there: a compiled function moves the
// stack pointer down once.
func (s *scan) rest() {
	var deepest values
	for _, v := range s.at {
		if v != nil && v[insn.RSP].known && v[insn.RSP].off <= deepest[insn.RSP].off {
			deepest[insn.RSP] = v[insn.RSP]
		}
	}
	for _, in := range s.insts {
		if s.at[in.off] == nil {
			s.from(in.off, deepest)
		}
	}
}

// look collects the results when all values are known.
func (s *scan) look() {
	for _, in := range s.insts {
		v := s.at[in.off]
		if v.touches(&in.Inst) {
			s.use.Slot = append(s.use.Slot, in.off)
		}
		to := in.Target(s.addr + uint64(in.off))
		switch outside := to-s.addr >= uint64(len(s.code)); {
		case in.Flow == insn.Call:
			s.use.Calls = append(s.use.Calls, to)
		case in.Flow.Direct() && outside && v[insn.RSP] == (value{known: true}):
			s.use.Tails = append(s.use.Tails, to)
		}
	}
}

// Unasked reports whether the slot is used more often than the function at asks is called, which
// returns the real return address.
func (u *Use) Unasked(asks uint64) bool {
	n := 0
	for _, to := range u.Calls {
		if to == asks {
			n++
		}
	}
	return len(u.Slot) > n
}
