package insn

import "errors"

// MaxLen is the architectural limit on the length of an instruction, in bytes.
const MaxLen = 15

// Errors of Decode and Walk, and of code that looks up an offset.
var (
	ErrTruncated = errors.New("insn: instruction is longer than the given bytes")
	ErrTooLong   = errors.New("insn: instruction longer than 15 bytes")
	ErrInvalid   = errors.New("insn: not an instruction in 64-bit mode")
	ErrRefused   = errors.New("insn: encoding whose length or meaning is not certain")
	ErrBoundary  = errors.New("insn: offset is inside an instruction")
	ErrRange     = errors.New("insn: offset is outside the code")
)

// Map is an opcode map.
type Map uint8

// The opcode maps. A VEX or EVEX map has the number of the legacy map it extends.
const (
	Map1B   Map = iota // one-byte opcodes
	Map0F              // 0F xx
	Map0F38            // 0F 38 xx
	Map0F3A            // 0F 3A xx
	Map4               // APX, refused
	Map5               // EVEX only
	Map6               // EVEX only
)

// Prefix is the set of prefixes of an instruction.
type Prefix uint16

// Of F2 and F3 only the last one counts and is recorded.
const (
	P66    Prefix = 1 << iota // operand size
	P67                       // address size
	PF2                       // REPNE, BND, or mandatory
	PF3                       // REP, or mandatory
	PLock                     // F0
	PSeg                      // ES, CS, SS, DS: no effect, or a hint (notrack, branch taken)
	PFS                       // 64
	PGS                       // 65
	PREX                      // a REX byte that counts
	PStray                    // a REX byte that does not, because a prefix follows it
	PVEX                      // C4, C5
	PEVEX                     // 62
)

// Has reports whether any prefix of q is present.
func (p Prefix) Has(q Prefix) bool { return p&q != 0 }

// Bits of Inst.REX, as in the REX byte. For VEX and EVEX, whose R, X and B are
// stored inverted, they are stored here as REX has them.
const (
	REXB = 1 << iota
	REXX
	REXR
	REXW
)

// Inst describes one instruction: where its parts are, how it changes control flow, and what
// prevents moving it. Offsets are from its first byte; an offset whose length is 0 has no meaning.
type Inst struct {
	Len    uint8 // 1..15
	Map    Map
	Opcode uint8
	OpOff  uint8 // of the opcode byte, after escapes and VEX
	Prefix Prefix
	REX    uint8 // REXW | REXR | REXX | REXB

	HasModRM bool
	HasSIB   bool
	ModRM    uint8
	ModOff   uint8 // of ModRM; SIB, if any, is the next byte
	SIB      uint8

	DispOff uint8
	DispLen uint8 // 0, 1, 4; moffs: 4, 8
	ImmOff  uint8
	ImmLen  uint8 // 0, 1, 2, 4, 8; enter: 3
	RelOff  uint8
	RelLen  uint8 // 0, 1, 4; a branch displacement is not an immediate here
	RIPRel  bool  // the disp32 is relative to the end of the instruction

	Flow  Flow
	Trait Trait

	disp int64 // sign-extended
	imm  int64 // the immediate zero-extended, or a branch displacement sign-extended
}

// Mod returns the mod field of ModRM; 3 means that RM is a register.
func (i *Inst) Mod() uint8 { return i.ModRM >> 6 }

// Reg returns the reg field of ModRM extended by R: a register number 0..15.
// For an opcode group use Group.
func (i *Inst) Reg() int8 { return int8(i.ModRM>>3&7 | i.REX&REXR<<1) }

// Group returns the reg field of ModRM as it extends an opcode, 0..7.
func (i *Inst) Group() uint8 { return i.ModRM >> 3 & 7 }

// HasMem reports whether ModRM names a memory operand.
func (i *Inst) HasMem() bool { return i.HasModRM && i.Mod() != 3 }

// Imm returns the immediate, zero-extended; 0 if ImmLen is 0. For enter the low
// 16 bits are the frame size and the next 8 the nesting level.
func (i *Inst) Imm() uint64 {
	if i.ImmLen == 0 {
		return 0
	}
	return uint64(i.imm)
}

// Disp returns the displacement of a memory operand, sign-extended and not
// scaled; 0 if DispLen is 0.
func (i *Inst) Disp() int64 { return i.disp }

// extend sign-extends a field of n bytes; for n = 0 it returns 0.
func extend(v uint64, n uint8) int64 {
	s := 64 - 8*uint(n)
	return int64(v<<s) >> s
}
