//go:build !tamago

package lab5

import "sonde/arch/amd64/insn"

// opLEA is the opcode of LEA, with which code computes addresses.
const opLEA = 0x8d

// A reading is what is known of each byte of a function.
type reading struct {
	begins  []bool
	ways    []Reason // what leads there, other than the instruction before it
	strange bool     // nothing is known for sure
}

// read goes over all instructions once.
func read(fn Function) *reading {
	r := &reading{begins: make([]bool, len(fn.Code)), ways: make([]Reason, len(fn.Code))}
	for off := 0; off < len(fn.Code); {
		in, err := insn.Decode(fn.Code[off:])
		if err != nil {
			r.strange = true
			return r
		}
		r.begins[off] = true
		r.follow(off, &in)
		off += int(in.Len)
	}
	for _, addr := range fn.Entries {
		r.reach(addr-fn.Addr, Entry)
	}
	for off, way := range r.ways {
		if way != Fine && !r.begins[off] {
			r.strange = true
		}
	}
	return r
}

// follow notes where an instruction leads.
func (r *reading) follow(off int, in *insn.Inst) {
	next := uint64(off) + uint64(in.Len)
	switch in.Flow {
	case insn.JmpInd:
		r.strange = true
	case insn.Call:
		r.reach(in.Target(uint64(off)), Branch)
		r.reach(next, Return)
	case insn.CallInd:
		r.reach(next, Return)
	case insn.Jmp, insn.Jcc, insn.Loop, insn.Xbegin:
		r.reach(in.Target(uint64(off)), Branch)
	case insn.Next:
		if in.RIPRel && in.Map == insn.Map1B && in.Opcode == opLEA {
			r.reach(next+uint64(in.Disp()), Address)
		}
	}
}

// reach notes that something leads to an offset, if that is in the function.
func (r *reading) reach(off uint64, way Reason) {
	if off < uint64(len(r.ways)) {
		r.ways[off] = way
	}
}

// Check returns how many bytes the instructions have that a jump at offset off would replace, if it
// may replace them. Otherwise it returns 0 and a reason.
func Check(fn Function, off int) (size int, why Reason) {
	r := read(fn)
	switch {
	case r.strange:
		return 0, NoFunction
	case off < 0 || off >= len(fn.Code) || !r.begins[off]:
		return 0, Boundary
	case off+JumpSize > len(fn.Code):
		return 0, End
	}
	end := off
	for at := off; at < off+JumpSize; at++ {
		if at > off && r.ways[at] != Fine {
			return 0, r.ways[at]
		}
		if !r.begins[at] {
			continue
		}
		in, _ := insn.Decode(fn.Code[at:]) // read has seen that it decodes
		if in.Movable() != insn.Fine {
			return 0, Unmovable
		}
		end = at + int(in.Len)
	}
	return end - off, Fine
}
