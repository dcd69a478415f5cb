package interp

import (
	"math/bits"

	"sonde/bpf"
)

// arithmetic executes an instruction of the classes ALU and ALU64.
func arithmetic(f *frame, in bpf.Insn) {
	var result uint64
	switch op := in.Operation(); op {
	case bpf.End:
		f.set(in.Dst(), byteOrder(in, f.get(in.Dst())))
		return
	case bpf.Mov:
		result = second(f, in)
		if in.Off != 0 {
			result = extend(result, int(in.Off))
		}
	case bpf.Neg:
		result = -f.get(in.Dst())
	default:
		a, b := f.get(in.Dst()), second(f, in)
		if in.Is64() {
			result = binary64(op, in.Off == 1, a, b)
		} else {
			result = uint64(binary32(op, in.Off == 1, uint32(a), uint32(b)))
		}
	}
	if !in.Is64() {
		result = uint64(uint32(result))
	}
	f.set(in.Dst(), result)
}

// second returns the second operand of arithmetic and jumps.
func second(f *frame, in bpf.Insn) uint64 {
	if in.UsesSrc() {
		return f.get(in.Src())
	}
	return uint64(int64(in.Imm))
}

// extend returns the low n bits of v, sign-extended.
func extend(v uint64, n int) uint64 { return uint64(int64(v<<(64-n)) >> (64 - n)) }

func byteOrder(in bpf.Insn, v uint64) uint64 {
	swap := in.Is64() || in.UsesSrc()
	switch {
	case in.Imm == 16 && swap:
		return uint64(bits.ReverseBytes16(uint16(v)))
	case in.Imm == 32 && swap:
		return uint64(bits.ReverseBytes32(uint32(v)))
	case swap:
		return bits.ReverseBytes64(v)
	case in.Imm == 16:
		return uint64(uint16(v))
	case in.Imm == 32:
		return uint64(uint32(v))
	}
	return v
}

func binary64(op uint8, signed bool, a, b uint64) uint64 {
	switch op {
	case bpf.Add:
		return a + b
	case bpf.Sub:
		return a - b
	case bpf.Mul:
		return a * b
	case bpf.Or:
		return a | b
	case bpf.And:
		return a & b
	case bpf.Xor:
		return a ^ b
	case bpf.Lsh:
		return a << (b & 63)
	case bpf.Rsh:
		return a >> (b & 63)
	case bpf.Arsh:
		return uint64(int64(a) >> (b & 63))
	}
	return divide(op, signed, a, b)
}

func binary32(op uint8, signed bool, a, b uint32) uint32 {
	switch {
	case op == bpf.Lsh:
		return a << (b & 31)
	case op == bpf.Rsh:
		return a >> (b & 31)
	case op == bpf.Arsh:
		return uint32(int32(a) >> (b & 31))
	case signed:
		return uint32(divide(op, true, uint64(int64(int32(a))), uint64(int64(int32(b)))))
	}
	return uint32(binary64(op, false, uint64(a), uint64(b)))
}

// divide returns the quotient or the remainder. In Go the smallest number by -1 wraps, too.
func divide(op uint8, signed bool, a, b uint64) uint64 {
	switch {
	case op == bpf.Div && b == 0:
		return 0
	case b == 0:
		return a
	case op == bpf.Div && signed:
		return uint64(int64(a) / int64(b))
	case op == bpf.Div:
		return a / b
	case signed:
		return uint64(int64(a) % int64(b))
	}
	return a % b
}

// holds tells whether the condition of a jump is true.
func holds(in bpf.Insn, a, b uint64) bool {
	sa, sb := int64(a), int64(b)
	if !in.Is64() {
		a, b = uint64(uint32(a)), uint64(uint32(b))
		sa, sb = int64(int32(sa)), int64(int32(sb))
	}
	switch in.Operation() {
	case bpf.Jeq:
		return a == b
	case bpf.Jne:
		return a != b
	case bpf.Jset:
		return a&b != 0
	case bpf.Jgt:
		return a > b
	case bpf.Jge:
		return a >= b
	case bpf.Jlt:
		return a < b
	case bpf.Jle:
		return a <= b
	case bpf.Jsgt:
		return sa > sb
	case bpf.Jsge:
		return sa >= sb
	case bpf.Jslt:
		return sa < sb
	}
	return sa <= sb // Jsle
}
