package jit

import (
	"math"

	"sonde/bpf"
)

// span is what a value is between, as a number with a sign: from least to most, if that is known.
type span struct {
	least, most int64
	known       bool
}

// spanLimit is how far from 0 a span may reach, so that what is computed with it has room.
const spanLimit = 1 << 62

// within reports whether the value is the index of one of n elements.
func (s span) within(n int64) bool { return s.known && s.least >= 0 && s.most < n }

// plus is the span of the sum with a number of 32 bits.
func (s span) plus(n int64) span {
	if !s.known || s.least < -spanLimit || s.most > spanLimit {
		return span{}
	}
	return span{s.least + n, s.most + n, true}
}

// after is the span of what an instruction makes of the value. Sums are plus's.
func (s span) after(in bpf.Insn, b value) span {
	switch op := in.Operation(); {
	case in.Class() != bpf.ALU64 || b.kind != isNumber || !s.known || s.least < 0:
	case op == bpf.Mul && b.n > 0 && s.most <= math.MaxInt64/b.n:
		return span{s.least * b.n, s.most * b.n, true}
	case op == bpf.Rsh && b.n >= 0 && b.n < 64:
		return span{s.least >> b.n, s.most >> b.n, true}
	}
	return span{}
}

// learns narrows the span of what a conditional jump compares with a number, when it is taken or is not.
func (s *state) learns(in bpf.Insn, taken bool) {
	v, n := &s.regs[in.Dst()], int64(in.Imm)
	if in.UsesSrc() || !in.Is64() || v.kind != isPlace && v.kind != isComputed {
		return
	}
	if !v.known {
		v.span = span{math.MinInt64, math.MaxInt64, true}
	}
	least, most := v.least, v.most
	switch op := in.Operation(); {
	case op == bpf.Jslt && taken, op == bpf.Jsge && !taken:
		most = n - 1
	case op == bpf.Jsle && taken, op == bpf.Jsgt && !taken:
		most = n
	case op == bpf.Jsgt && taken, op == bpf.Jsle && !taken:
		least = n + 1
	case op == bpf.Jsge && taken, op == bpf.Jslt && !taken:
		least = n
	case n >= 0 && (op == bpf.Jlt && taken || op == bpf.Jge && !taken):
		least, most = 0, n-1
	case n >= 0 && (op == bpf.Jle && taken || op == bpf.Jgt && !taken):
		least, most = 0, n
	}
	v.least, v.most = max(least, v.least), min(most, v.most)
}
