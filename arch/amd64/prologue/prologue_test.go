package prologue

import (
	"testing"

	"sonde/arch/amd64"
	"sonde/arch/amd64/insn"
)

func TestFindKnowsEveryFrameSize(t *testing.T) {
	jls := []byte{0x76, 0x20}
	cat := func(parts ...[]byte) (b []byte) {
		for _, p := range parts {
			b = append(b, p...)
		}
		return b
	}
	for _, c := range []struct {
		name string
		code []byte
		want Check
	}{
		{"small", cat(cmpSP, jls), Check{Small, 4, 0}},
		{"medium, 8 bits", cat(lea8, []byte{0x90}, cmpR12, jls), Check{Medium, 9, 0x70}},
		{"medium, 32 bits", cat(lea32, []byte{0x78, 0xff, 0xff, 0xff}, cmpR12, jls), Check{Medium, 12, 0x88}},
		{"large", cat(movSub, []byte{0, 0x20, 0, 0, 0x72, 0x30}, cmpR12, jls), Check{Large, 16, 0x2000}},
		{"large, far", cat(movSub, []byte{0, 0x20, 0, 0, 0x0f, 0x82, 1, 2, 0, 0}, cmpR12, jls), Check{Large, 20, 0x2000}},
		{"lea of something else", cat(lea8, []byte{0x90, 0x90, 0x90, 0x90, 0x90}), Check{}},
		{"nosplit", []byte{0x55, 0x48, 0x89, 0xe5}, Check{}},
		{"cut off", lea8, Check{}},
	} {
		if got := Find(c.code); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestGrowsDecidesAsTheComparisonDoes(t *testing.T) {
	const preempt = ^uint64(1313) // stackPreempt
	for _, c := range []struct {
		check     Check
		sp, guard uint64
		want      bool
	}{
		{Check{Small, 4, 0}, 0x1000, 0xfff, false},
		{Check{Small, 4, 0}, 0x1000, 0x1000, true},
		{Check{Small, 4, 0}, 0x1000, preempt, true},
		{Check{Medium, 9, 0x100}, 0x1000, 0xf00, true},
		{Check{Medium, 9, 0x100}, 0x1000, 0xeff, false},
		{Check{Large, 16, 0x2000}, 0x1000, 0xf00, true}, // SUBQ borrows
	} {
		r := &amd64.Regs{SP: c.sp}
		if got := c.check.Grows(r, c.guard); got != c.want {
			t.Errorf("%+v SP %#x guard %#x: %v", c.check, c.sp, c.guard, got)
		}
	}
}

func TestPerformDecidesTheBranch(t *testing.T) {
	p := Check{Medium, 9, 0x100}
	r := &amd64.Regs{SP: 0x1000, Flags: amd64.RFLAGS_CF | amd64.RFLAGS_ZF | amd64.RFLAGS_IF}
	p.Perform(r, 0x400, false)
	if r.IP != 0x409 || r.R12 != 0xf00 || r.Flags != amd64.RFLAGS_IF {
		t.Errorf("%+v", r)
	}
	p.Perform(r, 0x400, true)
	if r.Flags&amd64.RFLAGS_CF == 0 {
		t.Error("asked to grow, the branch is not taken")
	}
}

// code is a check as it is in memory, with breakpoints at some offsets.
func code(c Check, breaks ...uint8) []byte {
	b := make([]byte, c.Len)
	for _, at := range breaks {
		b[at] = insn.OpInt3
	}
	return b
}

var (
	small  = Check{Small, 4, 0}
	medium = Check{Medium, 9, 0x100}
	large  = Check{Large, 16, 0x2000}
)

func TestNextFindsBreakpoints(t *testing.T) {
	for _, c := range []struct {
		name   string
		check  Check
		breaks []uint8
		off    uint8
		want   uint8
	}{
		{"small has one instruction", small, []uint8{0}, 1, 4},
		{"medium, none", medium, []uint8{0}, 1, 9},
		{"medium, the comparison", medium, []uint8{0, 5}, 1, 5},
		{"medium, from the comparison on", medium, []uint8{5}, 5, 5},
		{"medium, behind the comparison", medium, []uint8{5}, 6, 9},
		{"medium, an operand is no breakpoint", medium, []uint8{3}, 1, 9},
		{"large, none", large, nil, 1, 16},
		{"large, all", large, []uint8{0, 3, 10, 12}, 1, 3},
		{"large, behind SUBQ", large, []uint8{3, 10, 12}, 4, 10},
		{"large, behind JCS", large, []uint8{3, 10, 12}, 11, 12},
		{"large, the last", large, []uint8{12}, 1, 12},
		{"large, behind the last", large, []uint8{3, 10, 12}, 13, 16},
		{"large, operands are no breakpoints", large, []uint8{4, 5, 6, 7, 8, 9, 11, 13, 14, 15}, 1, 16},
	} {
		mem := code(c.check, c.breaks...)
		if got := c.check.Next(mem, c.off); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
		if c.off == 1 && c.check.Alone(mem) != (c.want == c.check.Len) {
			t.Errorf("%s: Alone %v", c.name, c.check.Alone(mem))
		}
	}
}

func TestSkipGoesToTheNextBreakpoint(t *testing.T) {
	for _, c := range []struct {
		name   string
		check  Check
		breaks []uint8
		off    uint8
		ip     uint64
		r12    uint64
		done   bool
	}{
		{"to the JLS", medium, nil, 1, 0x409, 0x9000 - 0x100, true},
		{"to the comparison", medium, []uint8{5}, 1, 0x405, 0x9000 - 0x100, false},
		{"to SUBQ: not subtracted yet", large, []uint8{3}, 1, 0x403, 0x9000, false},
		{"to JCS", large, []uint8{10}, 1, 0x40a, 0x9000 - 0x2000, false},
		{"from SUBQ to the JLS", large, []uint8{3}, 4, 0x410, 0x9000 - 0x2000, true},
	} {
		r := amd64.Regs{SP: 0x9000, R12: 1, Flags: amd64.RFLAGS_CF | amd64.RFLAGS_ZF | amd64.RFLAGS_IF}
		want := amd64.Regs{SP: 0x9000, R12: c.r12, IP: c.ip, Flags: amd64.RFLAGS_IF}
		if done := c.check.Skip(&r, 0x400, code(c.check, c.breaks...), c.off); done != c.done || r != want {
			t.Errorf("%s: %v, %+v", c.name, done, r)
		}
	}
}

func TestFitsIgnoresWhatIsAskedFor(t *testing.T) {
	for _, c := range []struct {
		sp, lo, guard uint64
		want          bool
	}{
		{0x1101, 0xf00, 0x100, true}, {0x1100, 0xf00, 0x100, false}, {0x101, 0, 0, true}, {0x100, 0, 0, false}, {0x80, 0, 0, false},
	} {
		if got := medium.Fits(&amd64.Regs{SP: c.sp}, c.lo, c.guard); got != c.want {
			t.Errorf("SP %#x, stack from %#x, %#x left free: %v", c.sp, c.lo, c.guard, got)
		}
	}
}

func TestNoCheckIsNotFound(t *testing.T) {
	for n := range 16 {
		if c := Find(make([]byte, n)); c != (Check{}) || c.Kind != None {
			t.Errorf("%d zero bytes: %+v", n, c)
		}
	}
}
