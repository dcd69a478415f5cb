package jit

import (
	"encoding/binary"
	"math"
)

// reg is a register by its hardware number.
type reg uint8

const (
	ax reg = iota
	cx
	dx
	bx
	sp
	bp
	si
	di
	r8
	r9
	r10
	r11
	r12
	r13
	r14
	r15
)

// registers is which register each one of the program is.
var registers = [...]reg{ax, r8, bx, cx, di, si, r9, r10, r12, r13, r15}

// Opcodes; those above 0xFF have the byte 0F before them. Of two operands, RM is written, and Reg
// is read, unless the comment says otherwise.
const (
	opTest     = 0x85
	opXchg     = 0x87 // both are written; of memory, locked without a prefix
	opStore8   = 0x88
	opStore    = 0x89 // mov
	opLoad     = 0x8B // Reg is written
	opLea      = 0x8D // Reg is written
	opMovsxd   = 0x63 // Reg is written
	opImul     = 0x0FAF
	opMovzx8   = 0x0FB6 // Reg is written
	opMovzx16  = 0x0FB7
	opMovsx8   = 0x0FBE
	opMovsx16  = 0x0FBF
	opCmpxchg  = 0x0FB1
	opXadd     = 0x0FC1 // both are written
	opImm8     = 0xC6
	opImm      = 0xC7
	opShiftImm = 0xC1
	opShiftCL  = 0xD3
	opGroup1   = 0x83 // with a number of one byte
	opGroup3   = 0xF7
)

// Operations that are in Reg, or in opcodes: of opcode 0x81 and 0x83 (and 8*n+1 between
// registers), of shifts, and of opGroup3.
const (
	opAdd = 0
	opOr  = 1
	opAnd = 4
	opSub = 5
	opXor = 6
	opCmp = 7

	opRor = 1
	opShl = 4
	opShr = 5
	opSar = 7

	opTestImm = 0
	opNeg     = 3
	opDiv     = 6
	opIdiv    = 7
)

const (
	prefix16   = 0x66
	prefixLock = 0xF0
	prefixGS   = 0x65
)

// memory is an operand: what lies disp bytes after base, which is not SP.
type memory struct {
	base reg
	disp int32
}

// code is machine code that is being written. Operations are on 64 bits if wide, else on 32, whose
// result fills the register with zeros; prefixes are put before them.
type code struct{ b []byte }

func (c *code) put(b ...byte) { c.b = append(c.b, b...) }

func (c *code) imm32(v int32) { c.b = binary.LittleEndian.AppendUint32(c.b, uint32(v)) }

// opcode puts REX, if it is needed, and the opcode. Without REX, the numbers 4 to 7 of byte
// registers mean AH to BH; SI and DI need it.
func (c *code) opcode(wide bool, op int, r, rm reg, byteReg reg) {
	rex := byte(0x40) | byte(r>>3)<<2 | byte(rm>>3)
	if wide {
		rex |= 8
	}
	if rex != 0x40 || byteReg >= 4 {
		c.put(rex)
	}
	if op > 0xFF {
		c.put(0x0F)
	}
	c.put(byte(op))
}

// regs puts an operation on two registers, or on rm alone with r telling which.
func (c *code) regs(wide bool, op int, r, rm reg) {
	byteReg := ax
	if op == opMovsx8 {
		byteReg = rm
	}
	c.opcode(wide, op, r, rm, byteReg)
	c.put(0xC0 | byte(r&7)<<3 | byte(rm&7))
}

// mem puts an operation on a register and memory, or on memory alone with r telling which.
func (c *code) mem(wide bool, op int, r reg, m memory) {
	byteReg := ax
	if op == opStore8 {
		byteReg = r
	}
	c.opcode(wide, op, r, m.base, byteReg)
	short := m.disp == int32(int8(m.disp))
	mod := byte(0x80)
	switch {
	case m.disp == 0 && m.base&7 != bp:
		mod = 0
	case short:
		mod = 0x40
	}
	c.put(mod | byte(r&7)<<3 | byte(m.base&7))
	if m.base&7 == sp {
		c.put(0x24) // SIB: no index
	}
	switch mod {
	case 0x40:
		c.put(byte(m.disp))
	case 0x80:
		c.imm32(m.disp)
	}
}

// move copies a register; on 32 bits it clears the high half, also of src itself.
func (c *code) move(wide bool, dst, src reg) {
	if wide && dst == src {
		return
	}
	c.regs(wide, opStore, src, dst)
}

func (c *code) clear(r reg) { c.regs(false, opXor<<3|1, r, r) }

// set loads a number in the shortest way. It can change the flags.
func (c *code) set(r reg, v uint64) {
	switch {
	case v == 0:
		c.clear(r)
	case v <= math.MaxUint32:
		c.opcode(false, 0xB8|int(r&7), 0, r, ax)
		c.imm32(int32(v))
	case int64(v) == int64(int32(v)):
		c.regs(true, opImm, 0, r)
		c.imm32(int32(v))
	default:
		c.opcode(true, 0xB8|int(r&7), 0, r, ax)
		c.b = binary.LittleEndian.AppendUint64(c.b, v)
	}
}

// group1 puts opAdd to opCmp with a number.
func (c *code) group1(wide bool, op byte, r reg, v int32) {
	switch {
	case v == int32(int8(v)):
		c.regs(wide, opGroup1, reg(op), r)
		c.put(byte(v))
	case r == ax:
		c.opcode(wide, int(op)<<3|5, 0, ax, ax)
		c.imm32(v)
	default:
		c.regs(wide, 0x81, reg(op), r)
		c.imm32(v)
	}
}

// Conditions, as they lie in the opcode of a jump.
const (
	below = 2 + iota
	aboveOrEqual
	equal
	notEqual
	belowOrEqual
	above
	less           = 12
	greaterOrEqual = 13
	lessOrEqual    = 14
	greater        = 15
	always         = -1
)

// skip puts a jump over what is put until land is called with its result, at most 127 bytes.
func (c *code) skip(condition int) (from int) {
	if condition == always {
		c.put(0xEB, 0)
	} else {
		c.put(0x70|byte(condition), 0)
	}
	return len(c.b)
}

func (c *code) land(from int) { c.b[from-1] = byte(len(c.b) - from) }
