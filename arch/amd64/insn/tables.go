package insn

// opmap has a letter for each of 256 opcodes, sixteen rows of sixteen.
type opmap [16]string

// bitmap has a hexadecimal digit for each opcode: the mandatory prefixes for
// which it is defined, none = 1, 66 = 2, F3 = 4, F2 = 8.
type bitmap [16]string

// at returns the letter of opcode b.
func (m *opmap) at(b byte) byte { return m[b>>4][b&15] }

// has reports whether opcode b is defined for mandatory prefix pp, 0..3.
func (m *bitmap) has(b byte, pp uint8) bool {
	c := m[b>>4][b&15]
	switch {
	case c >= 'a':
		c -= 'a' - 10
	case c >= '0':
		c -= '0'
	default: // '.'
		return false
	}
	return c>>pp&1 != 0
}

// The letters of oneByte and twoByte:
//
//	.  nothing follows          M  ModRM
//	b  imm8                     B  ModRM imm8
//	z  imm16/32                 Z  ModRM imm16/32
//	w  imm16                    v  imm16/32/64
//	e  imm16 imm8 (enter)       o  address (moffs)
//	j  rel8                     J  rel32
//	C  ModRM that is never memory (CR, DR)
//	t  F6   T  F7   s  0F 78   3  3DNow!
//	x  not an instruction in 64-bit mode
//	-  prefix or escape, handled before (D5, REX2: refused)
//
// Source: Intel SDM vol. 2, "Opcode Map", "One-byte Opcode Map", "Two-byte Opcode Map";
// D6 and 0F A6, A7, 0F 24..27 are other makers' or older processors'.
var oneByte = opmap{
	"MMMMbzxxMMMMbzx-", // 00
	"MMMMbzxxMMMMbzxx", // 10
	"MMMMbz-xMMMMbz-x", // 20
	"MMMMbz-xMMMMbz-x", // 30
	"----------------", // 40
	"................", // 50
	"xx-M----zZbB....", // 60
	"jjjjjjjjjjjjjjjj", // 70
	"BZxBMMMMMMMMMMMM", // 80
	"..........x.....", // 90
	"oooo....bz......", // A0
	"bbbbbbbbvvvvvvvv", // B0
	"BBw.--BZe.w..bx.", // C0
	"MMMMx-x.MMMMMMMM", // D0
	"jjjjbbbbJJxj....", // E0
	"-.--..tT......MM", // F0
}

// twoByte is the map of 0F xx.
var twoByte = opmap{
	"MMMMx.....x.xM.3", // 00
	"MMMMMMMMMMMMMMMM", // 10
	"CCCCxxxxMMMMMMMM", // 20
	"......x.-x-xxxxx", // 30
	"MMMMMMMMMMMMMMMM", // 40
	"MMMMMMMMMMMMMMMM", // 50
	"MMMMMMMMMMMMMMMM", // 60
	"BBBBMMM.sMxxMMMM", // 70
	"JJJJJJJJJJJJJJJJ", // 80
	"MMMMMMMMMMMMMMMM", // 90
	"...MBMxx...MBMMM", // A0
	"MMMMMMMMMMBMMMMM", // B0
	"MMBMBBBM........", // C0
	"MMMMMMMMMMMMMMMM", // D0
	"MMMMMMMMMMMMMMMM", // E0
	"MMMMMMMMMMMMMMMM", // F0
}

// legacy0F says for which mandatory prefixes the opcodes of twoByte are defined.
// Those of general registers ignore the prefixes.
var legacy0F = bitmap{
	"ffff.ffff5.f.fff", // 00
	"fff33373ffffffff", // 10
	"ffff....33ffff33", // 20
	"ffffff.f........", // 30
	"ffffffffffffffff", // 40
	"3f553333fff7ffff", // 50
	"3333333333332237", // 60
	"f3333331bb..aa77", // 70
	"ffffffffffffffff", // 80
	"ffffffffffffffff", // 90
	"ffffff..ffffffff", // A0
	"ffffffff4fff77ff", // B0
	"fff1333fffffffff", // C0
	"a33333ef33333333", // D0
	"333333e333333333", // E0
	"833333333333333f", // F0
}

// legacy38 is the map of 0F 38 xx; each opcode has ModRM and no immediate.
var legacy38 = bitmap{
	"333333333333....", // 00
	"2...22.2....333.", // 10
	"222222..2222....", // 20
	"222222.222222222", // 30
	"22..............", // 40
	"................", // 50
	"................", // 60
	"................", // 70
	"222.............", // 80
	"................", // 90
	"................", // A0
	"................", // B0
	"........111111.2", // C0
	"........4..26666", // D0
	"................", // E0
	"bb...27.e144f...", // F0
}

// legacy3A is the map of 0F 3A xx; each opcode has ModRM and imm8.
var legacy3A = bitmap{
	"........22222223", // 00
	"....2222........", // 10
	"222.............", // 20
	"................", // 30
	"222.2...........", // 40
	"................", // 50
	"2222............", // 60
	"................", // 70
	"................", // 80
	"................", // 90
	"................", // A0
	"................", // B0
	"............1.22", // C0
	"...............2", // D0
	"................", // E0
	"4...............", // F0
}

// vex1 is VEX map 1; see vector1 for the shapes.
var vex1 = bitmap{
	"................", // 00
	"fff33373........", // 10
	"........33c3cc33", // 20
	"................", // 30
	".33.3333..33....", // 40
	"3f553333fff7ffff", // 50
	"2222222222222226", // 60
	"e2222221....aa66", // 70
	"................", // 80
	"33bb....33......", // 90
	"..............f.", // A0
	"................", // B0
	"..f.223.........", // C0
	"a222222222222222", // D0
	"222222e222222222", // E0
	"822222222222222.", // F0
}

// vex2 is VEX map 2, with BMI, AMX, CMPccXADD, SHA512, SM3, SM4.
var vex2 = bitmap{
	"2222222222222222", // 00
	"...2..22222.222.", // 10
	"222222..22222222", // 20
	"2222222222222222", // 30
	"22...222.b.e....", // 40
	"ff22....222.c.f.", // 50
	"............3...", // 60
	"..4.....22......", // 70
	"............2.2.", // 80
	"2222..2222222222", // 90
	"......2222222222", // A0
	"f6..222222222222", // B0
	"...........888.2", // C0
	"..77......f22222", // D0
	"2222222222222222", // E0
	"..11.d8f........", // F0
}

// vex3 is VEX map 3; all have imm8 (or a register in its place).
var vex3 = bitmap{
	"222.222.22222222", // 00
	"....222222...2..", // 10
	"222.............", // 20
	"2222....22......", // 30
	"222.2.2.22222...", // 40
	"............2222", // 50
	"2222....22222222", // 60
	"........22222222", // 70
	"................", // 80
	"................", // 90
	"................", // A0
	"................", // B0
	"..............22", // C0
	"..............22", // D0
	"................", // E0
	"8...............", // F0
}

// evex1 is EVEX map 1.
var evex1 = bitmap{
	"................", // 00
	"fff33373........", // 10
	"........33c3cc33", // 20
	"................", // 30
	"................", // 40
	".f..3333fff7ffff", // 50
	"222222222222222e", // 60
	"e222222.ffee..6e", // 70
	"................", // 80
	"................", // 90
	"................", // A0
	"................", // B0
	"..f.223.........", // C0
	".222222.22222222", // D0
	"222222e222222222", // E0
	".222222.2222222.", // F0
}

// evex2 is EVEX map 2.
var evex2 = bitmap{
	"2...2......222..", // 00
	"6666662.22222222", // 10
	"66666666666222..", // 20
	"6666662266622222", // 30
	"2.222222....22f2", // 40
	"ffea22..2222....", // 50
	"..22222.8.......", // 60
	"22e2.22222222222", // 70
	"...2....2222.2.2", // 80
	"2222..2222aa2222", // 90
	"2222..2222aa2222", // A0
	"....222222222222", // B0
	"....2.222.2222.2", // C0
	"............2222", // D0
	"................", // E0
	"................", // F0
}

// evex3 is EVEX map 3.
var evex3 = bitmap{
	"22.222..3232...2", // 00
	"....22222222.222", // 10
	"2222.233........", // 20
	"........2222..22", // 30
	"..f22...........", // 40
	"22..2233........", // 50
	"......33........", // 60
	"f2f2............", // 70
	"................", // 80
	"................", // 90
	"................", // A0
	"................", // B0
	"..5...........22", // C0
	"................", // D0
	"................", // E0
	"................", // F0
}

// evex5 is EVEX map 5 (FP16).
var evex5 = bitmap{
	"................", // 00
	"44...........3..", // 10
	"..........4.4411", // 20
	"................", // 30
	"................", // 40
	".5......55f75555", // 50
	"..............2.", // 60
	"........77a63f2.", // 70
	"................", // 80
	"................", // 90
	"................", // A0
	"................", // B0
	"................", // C0
	"................", // D0
	"................", // E0
	"................", // F0
}

// evex6 is EVEX map 6 (FP16).
var evex6 = bitmap{
	"................", // 00
	"...3............", // 10
	"............22..", // 20
	"................", // 30
	"..22........2222", // 40
	"......cc........", // 50
	"................", // 60
	"................", // 70
	"................", // 80
	"......2222222222", // 90
	"......2222222222", // A0
	"......2222222222", // B0
	"................", // C0
	"......cc........", // D0
	"................", // E0
	"................", // F0
}
