package optprobe

import (
	"encoding/binary"

	"sonde/arch/amd64/insn"
)

// writer appends instructions to a copy. It keeps the first reason to fail.
type writer struct {
	to  Copy
	pos uint64 // address of the next byte
	why Reason
}

// Relocate rewrites the region at address from, whose original bytes are code, for address
// to. It accesses neither address and does not allocate.
//
// Errors: TooFar and TooHigh, which another address may avoid; for code that Check does not
// allow, NoDecode, Unmovable, Return, CallStack, CallOdd and NotRegion. The Obstacle's
// offset is from the start of code.
func Relocate(code []byte, from, to uint64) (Copy, Obstacle) {
	w := writer{to: Copy{From: from, To: to}, pos: to}
	off, last := 0, insn.Inst{}
	for off < JumpSize {
		if off >= len(code) {
			return Copy{}, Obstacle{Reason: NotRegion, Off: off}
		}
		in, err := insn.Decode(code[off:])
		if err != nil {
			return Copy{}, Obstacle{Reason: NoDecode, Off: off}
		}
		if o := movable(&in); o.Reason != Fine {
			o.Off = off
			return Copy{}, o
		}
		end := off + int(in.Len)
		if (in.Flow == insn.Call || in.Flow == insn.CallInd) && end < JumpSize {
			return Copy{}, Obstacle{Reason: Return, Off: end}
		}
		w.mark(begins, from+uint64(off))
		w.move(&in, code[off:end], from+uint64(off))
		if w.why != Fine {
			return Copy{}, Obstacle{Reason: w.why, Off: off}
		}
		off, last = end, in
	}
	if off != len(code) {
		return Copy{}, Obstacle{Reason: NotRegion, Off: off}
	}
	if last.Flow.FallsThrough() {
		w.mark(decided, from+uint64(off))
		w.jump(from + uint64(off))
	}
	if w.why != Fine {
		return Copy{}, Obstacle{Reason: w.why, Off: off}
	}
	return w.to, Obstacle{}
}

// move writes the instruction in, which was code at address addr.
func (w *writer) move(in *insn.Inst, code []byte, addr uint64) {
	target := in.Target(addr)
	next := addr + uint64(in.Len)
	switch in.Flow {
	case insn.Jmp:
		w.jump(target)
	case insn.Jcc:
		w.put(0x0F, insn.OpJcc|in.Cond())
		w.rel(target)
	case insn.Loop:
		w.loop(in, next, target)
	case insn.Call:
		w.pushReturn(next, addr)
		w.jump(target)
	case insn.CallInd:
		w.callThrough(in, code, addr)
	default:
		w.same(in, code, addr)
	}
}

// same writes an instruction of which only a RIP-relative displacement changes.
func (w *writer) same(in *insn.Inst, code []byte, addr uint64) {
	var copied [insn.MaxLen + 4]byte
	if !in.CopyTo(copied[:], code, addr, w.pos) && w.why == Fine {
		w.why = TooFar
	}
	w.put(copied[:len(code)]...)
}

// loop writes LOOP, LOOPE, LOOPNE or JRCXZ, which have no form with rel32, as
//
//	LOOP 1f; JMP 2f
//	1: JMP target
//	2:
func (w *writer) loop(in *insn.Inst, next, target uint64) {
	if in.Prefix.Has(insn.P67) {
		w.put(0x67) // counts in ECX
	}
	w.put(in.Opcode, 2)
	w.mark(decided, next)
	w.put(insn.OpJmp8, JumpSize)
	w.mark(decided, target)
	w.jump(target)
}

// pushReturn writes the first half of a call at addr.
func (w *writer) pushReturn(next, addr uint64) {
	if int64(next) != int64(int32(next)) {
		w.why = TooHigh
		return
	}
	w.put(insn.OpPush, byte(next), byte(next>>8), byte(next>>16), byte(next>>24))
	w.mark(pushed, addr)
}

// callThrough writes an indirect call as a push and an indirect jump with the same operand:
// FF /2 becomes FF /4.
func (w *writer) callThrough(in *insn.Inst, code []byte, addr uint64) {
	w.pushReturn(addr+uint64(in.Len), addr)
	var jmp [insn.MaxLen + 4]byte
	n := copy(jmp[:], code)
	const group = 7 << 3
	jmp[in.ModOff] = in.ModRM&^group | 4<<3
	if m, mem := in.MemOperand(); mem && m.Base == insn.RSP {
		// RSP is 8 less now. Mod 2: disp32, whatever it was before.
		jmp[in.ModOff] = 2<<6 | 4<<3 | 4
		disp := m.Disp + 8
		if disp != int64(int32(disp)) {
			w.why = CallStack
		}
		n = int(in.ModOff) + 2
		binary.LittleEndian.PutUint32(jmp[n:], uint32(disp))
		n += 4
	}
	w.same(in, jmp[:n], addr)
}

// callThrough says whether an indirect call can become a push and a jump.
func callThrough(in *insn.Inst) Reason {
	if r := in.RMReg(); r == insn.RSP {
		return CallStack
	} else if r != insn.NoReg {
		return Fine
	}
	if _, ok := in.MemOperand(); !ok {
		return CallOdd
	}
	return Fine
}

// jump writes a jump to target.
func (w *writer) jump(target uint64) {
	w.put(insn.OpJmp)
	w.rel(target)
}

// rel writes the displacement to target at the end of an instruction.
func (w *writer) rel(target uint64) {
	d, ok := insn.Distance(w.pos+4, target)
	if !ok && w.why == Fine {
		w.why = TooFar
	}
	w.put(byte(d), byte(d>>8), byte(d>>16), byte(d>>24))
}

// put writes bytes. The copy of a region always fits.
func (w *writer) put(b ...byte) {
	if int(w.to.len)+len(b) > maxCopy {
		w.why = NotRegion
		return
	}
	w.to.len += uint8(copy(w.to.code[w.to.len:], b))
	w.pos += uint64(len(b))
}

func (w *writer) mark(k kind, ip uint64) {
	if w.to.nmarks == maxMarks {
		w.why = NotRegion
		return
	}
	w.to.marks[w.to.nmarks] = mark{w.to.len, k, ip}
	w.to.nmarks++
}
