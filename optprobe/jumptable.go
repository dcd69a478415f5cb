package optprobe

import "sonde/arch/amd64/insn"

// The Go compiler writes a switch with many cases as
//
//	CMPQ idx, $n-1
//	JA   default
//	LEAQ table(SB), R
//	JMP  (R)(idx*8)
//
// with a table of n addresses in read-only data, each the start of a block of this
// function. There may be a nop before the jump and spills before the LEA; a switch over
// types masks the index (AND) instead of comparing it.
//
// How long is the table? Every entry is the start of an instruction of this function, so
// the table ends at the latest at the first word that is not. It may end earlier, if
// another table of the same function follows; then the words read too far are entries as
// well. So reading until a word does not fit finds all entries and almost never anything
// else. If the comparison is recognized, it must not allow more entries than that. (In the
// test kernel it is recognized for 31 of 36 tables, and allows exactly as many as are
// found.)
//
// Source: Go, cmd/compile/internal/ssagen/ssa.go (JumpTables),
// cmd/compile/internal/ssa/_gen/AMD64Ops.go (JUMPTABLE).

const (
	opLEA    = 0x8D
	condA    = 7       // ja
	maxTable = 1 << 12 // entries, 16 times more than in any program seen
	maxBack  = 8       // instructions to look at before the LEA
)

// resolveJumps notes the targets of all indirect jumps, or refuses the function.
func (s *Scan) resolveJumps() Obstacle {
	for _, off := range s.jumps {
		if why := s.resolve(off); why != Fine {
			return Obstacle{Reason: why, Off: off}
		}
	}
	// Check again: a table read later may lead between a LEA and its jump.
	for _, off := range s.jumps {
		if _, ok := s.findLEA(off); !ok {
			return Obstacle{Reason: JumpAway, Off: off}
		}
	}
	return Obstacle{}
}

// lea is the instruction that loads the address of a table.
type lea struct {
	off   int
	table uint64
	index int8 // register of the jump
}

// resolve notes the targets of the indirect jump at off.
func (s *Scan) resolve(off int) Reason {
	l, ok := s.findLEA(off)
	if !ok {
		return JumpAway
	}
	if n := s.readTable(l.table); n == 0 || n <= s.bound(l) {
		return BadTable
	}
	return Fine
}

// findLEA finds the LEA right before the indirect jump at off. It returns false if the jump
// or the code before it has another form, or if something leads in between.
func (s *Scan) findLEA(off int) (lea, bool) {
	jmp := s.at(off)
	m, ok := jmp.MemOperand()
	if !ok || m.Base < 0 || m.Index < 0 || m.Scale != 8 || m.Disp != 0 || m.Seg != insn.SegNone || m.Addr32 {
		return lea{}, false
	}
	for s.cells[off]&ways == 0 {
		if off, ok = s.before(off); !ok {
			break
		}
		in := s.at(off)
		if isNop(&in) {
			continue
		}
		is := in.RIPRel && in.Map == insn.Map1B && in.Opcode == opLEA &&
			in.REX&insn.REXW != 0 && !in.Prefix.Has(insn.P67) && in.Reg() == m.Base
		next := s.fn.Addr + uint64(off) + uint64(in.Len)
		return lea{off, next + uint64(in.Disp()), m.Index}, is
	}
	return lea{}, false
}

// readTable notes the entries of the table at addr and returns their number.
func (s *Scan) readTable(addr uint64) (n int) {
	if s.fn.Word == nil {
		return 0
	}
	for n < maxTable {
		v, ok := s.fn.Word(addr + uint64(8*n))
		off := v - s.fn.Addr
		if !ok || off >= uint64(len(s.fn.Code)) || s.cells[off]&begin == 0 {
			return n
		}
		s.cells[off] |= byTable
		n++
	}
	return 0
}

// bound returns the greatest index that the code before the LEA allows, or -1 if that code
// is not recognized.
func (s *Scan) bound(l lea) int {
	above := false // JA has been seen
	off := l.off
	for range maxBack {
		if s.cells[off]&ways != 0 {
			return -1
		}
		var ok bool
		if off, ok = s.before(off); !ok {
			return -1
		}
		in := s.at(off)
		store := in.Map == insn.Map1B && in.Opcode&^1 == 0x88 && in.HasMem()
		switch op, reg, imm := arithmetic(&in, s.fn.Code[off:]); {
		case op == opCMP && reg == l.index && above, op == opAND && reg == l.index:
			return int(min(imm, maxTable)) // negative: as unknown
		case in.Flow == insn.Jcc:
			above = in.Cond() == condA
		case op == opCMP || isNop(&in) || store: // do not change the index
		default:
			return -1
		}
	}
	return -1
}

// Numbers of operations in the opcode group 80, 81, 83.
const (
	opAND = 4
	opCMP = 7
	opNot = 0xFF // no such operation
)

// arithmetic decodes an operation on a register with an immediate.
//
// Source: Intel SDM vol. 2, "Opcode Extensions for One-Byte and Two-byte Opcodes".
func arithmetic(in *insn.Inst, code []byte) (op uint8, reg int8, imm int64) {
	if in.Map != insn.Map1B || in.ImmLen != 1 && in.ImmLen != 4 {
		return opNot, insn.NoReg, 0
	}
	imm = int64(int32(in.Imm()))
	switch in.Opcode {
	case 0x83:
		return in.Group(), in.RMReg(), int64(int8(imm))
	case 0x81:
		return in.Group(), in.RMReg(), imm
	case 0x25, 0x3D: // with EAX, RAX
		return in.Opcode >> 3, insn.RAX, imm
	}
	return opNot, insn.NoReg, 0
}

// isNop reports whether in is one of the nops that assemblers use as padding.
func isNop(in *insn.Inst) bool {
	return in.Map == insn.Map1B && in.Opcode == 0x90 && in.REX&insn.REXB == 0 ||
		in.Map == insn.Map0F && in.Opcode == 0x1F
}

// at decodes the instruction at off again: few are needed twice.
func (s *Scan) at(off int) insn.Inst {
	in, _ := insn.Decode(s.fn.Code[off:]) // Read has checked that it decodes
	return in
}

// before returns the offset of the instruction that ends at off.
func (s *Scan) before(off int) (int, bool) {
	for p := off - 1; p >= 0; p-- {
		if s.cells[p]&begin != 0 {
			return p, true
		}
	}
	return 0, false
}
