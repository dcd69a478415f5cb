package bpf

// Insn is eight bytes of a program, as they lie in memory.
type Insn struct {
	Op   uint8
	Regs uint8 // destination in the low four bits, source in the high four
	Off  int16
	Imm  int32
}

// Class is the low three bits of an opcode.
type Class uint8

// The classes.
const (
	LD    Class = 0 // 64-bit immediates
	LDX   Class = 1 // from memory
	ST    Class = 2 // an immediate to memory
	STX   Class = 3 // a register to memory; atomics
	ALU   Class = 4 // 32 bits; the high half of the result is 0
	JMP   Class = 5
	JMP32 Class = 6 // compares the low halves
	ALU64 Class = 7
)

// Bit 3 of the opcode in the classes ALU, ALU64, JMP and JMP32: the second operand.
const (
	K uint8 = 0x00 // the immediate
	X uint8 = 0x08 // the source register
)

// Operations of the classes ALU and ALU64: the high four bits of the opcode.
const (
	Add  uint8 = 0x00
	Sub  uint8 = 0x10
	Mul  uint8 = 0x20
	Div  uint8 = 0x30 // signed if Off is 1
	Or   uint8 = 0x40
	And  uint8 = 0x50
	Lsh  uint8 = 0x60
	Rsh  uint8 = 0x70
	Neg  uint8 = 0x80
	Mod  uint8 = 0x90 // signed if Off is 1
	Xor  uint8 = 0xA0
	Mov  uint8 = 0xB0 // sign-extends the low Off bits if Off is not 0
	Arsh uint8 = 0xC0
	End  uint8 = 0xD0 // byte order: in ALU, K is little-endian and X big-endian; in ALU64, swap
)

// Operations of the classes JMP and JMP32: the high four bits of the opcode.
const (
	Ja   uint8 = 0x00 // by Off in JMP, by Imm in JMP32
	Jeq  uint8 = 0x10
	Jgt  uint8 = 0x20
	Jge  uint8 = 0x30
	Jset uint8 = 0x40 // some bit is set in both
	Jne  uint8 = 0x50
	Jsgt uint8 = 0x60
	Jsge uint8 = 0x70
	Call uint8 = 0x80
	Exit uint8 = 0x90
	Jlt  uint8 = 0xA0
	Jle  uint8 = 0xB0
	Jslt uint8 = 0xC0
	Jsle uint8 = 0xD0
)

// Sizes of loads and stores: bits 3 and 4 of the opcode.
const (
	W  uint8 = 0x00 // 4 bytes
	H  uint8 = 0x08 // 2
	B  uint8 = 0x10 // 1
	DW uint8 = 0x18 // 8
)

// Modes of loads and stores: the high three bits of the opcode.
const (
	Imm64  uint8 = 0x00
	Mem    uint8 = 0x60
	MemSX  uint8 = 0x80 // the load sign-extends
	Atomic uint8 = 0xC0 // Imm is the operation
)

// Operations of atomics, in Imm: Add, Or, And or Xor, with Fetch if the source register gets the
// old value; or one of the two that always fetch.
const (
	Fetch   int32 = 0x01
	Xchg    int32 = 0xE1
	Cmpxchg int32 = 0xF1 // with R0
)

// What the immediate of a 64-bit load means: its source register.
const (
	Number     uint8 = 0
	MapFD      uint8 = 1 // the map with the descriptor Imm
	MapFDValue uint8 = 2 // an address in its first value, at the second Imm
	Variable   uint8 = 3 // the kernel's variable with the BTF id Imm
	Function   uint8 = 4 // the function at the distance Imm
	MapIdx     uint8 = 5 // the map with the index Imm in the list the loader gave
	MapIdxVal  uint8 = 6
)

// What a call calls: its source register.
const (
	CallHelper uint8 = 0 // the helper with the number Imm
	CallLocal  uint8 = 1 // the function of the program at the distance Imm
	CallKfunc  uint8 = 2 // the kernel's function with the BTF id Imm
)

// Registers of a program. R0 is a result, R1 to R5 are arguments, R10 is the end of the stack
// frame and cannot be written.
const (
	R10     = 10
	NumRegs = 11
)

// Class returns the class of in.
func (in Insn) Class() Class { return Class(in.Op & 7) }

// Operation returns the operation of arithmetic and jumps.
func (in Insn) Operation() uint8 { return in.Op & 0xF0 }

// UsesSrc tells of arithmetic and jumps whether the second operand is the source register.
func (in Insn) UsesSrc() bool { return in.Op&X != 0 }

// Mode returns the mode of loads and stores.
func (in Insn) Mode() uint8 { return in.Op & 0xE0 }

// Size returns how many bytes loads and stores access.
func (in Insn) Size() int { return int(sizes[in.Op>>3&3]) }

var sizes = [...]uint8{B >> 3: 1, H >> 3: 2, W >> 3: 4, DW >> 3: 8}

// Dst returns the destination register.
func (in Insn) Dst() uint8 { return in.Regs & 15 }

// Src returns the source register.
func (in Insn) Src() uint8 { return in.Regs >> 4 }

// IsWide tells whether in is the first half of a 64-bit load, which takes two Insns.
func (in Insn) IsWide() bool { return in.Op == uint8(LD)|Imm64|DW }

// Is64 tells of arithmetic and jumps whether they work on whole registers.
func (in Insn) Is64() bool { return in.Class() == ALU64 || in.Class() == JMP }

// Distance returns by how many units a jump, a local call or the load of a function's address
// continues from the instruction after it.
func (in Insn) Distance() int {
	if in.IsWide() || in.Operation() == Call || in.Class() == JMP32 && in.Operation() == Ja {
		return int(in.Imm)
	}
	return int(in.Off)
}
