package kprobes

import (
	"testing"

	"sonde/arch/amd64"
)

func TestFindPrologueKnowsEveryFrameSize(t *testing.T) {
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
		want prologue
	}{
		{"small", cat(cmpSP, jls), prologue{smallFrame, 0, 4}},
		{"medium, 8 bits", cat(lea8, []byte{0x90}, cmpR12, jls), prologue{mediumFrame, 0x70, 9}},
		{"medium, 32 bits", cat(lea32, []byte{0x78, 0xff, 0xff, 0xff}, cmpR12, jls), prologue{mediumFrame, 0x88, 12}},
		{"large", cat(movSub, []byte{0, 0x20, 0, 0, 0x72, 0x30}, cmpR12, jls), prologue{largeFrame, 0x2000, 16}},
		{"large, far", cat(movSub, []byte{0, 0x20, 0, 0, 0x0f, 0x82, 1, 2, 0, 0}, cmpR12, jls), prologue{largeFrame, 0x2000, 20}},
		{"lea of something else", cat(lea8, []byte{0x90, 0x90, 0x90, 0x90, 0x90}), prologue{}},
		{"nosplit", []byte{0x55, 0x48, 0x89, 0xe5}, prologue{}},
		{"cut off", lea8, prologue{}},
	} {
		if got := findPrologue(c.code); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestGrowsDecidesAsTheComparisonDoes(t *testing.T) {
	const preempt = ^uint64(1313) // stackPreempt
	for _, c := range []struct {
		p         prologue
		sp, guard uint64
		want      bool
	}{
		{prologue{smallFrame, 0, 4}, 0x1000, 0xfff, false},
		{prologue{smallFrame, 0, 4}, 0x1000, 0x1000, true},
		{prologue{smallFrame, 0, 4}, 0x1000, preempt, true},
		{prologue{mediumFrame, 0x100, 9}, 0x1000, 0xf00, true},
		{prologue{mediumFrame, 0x100, 9}, 0x1000, 0xeff, false},
		{prologue{largeFrame, 0x2000, 16}, 0x1000, 0xf00, true}, // SUBQ borrows
	} {
		r := &amd64.Regs{SP: c.sp}
		if got := c.p.grows(r, c.guard); got != c.want {
			t.Errorf("%+v SP %#x guard %#x: %v", c.p, c.sp, c.guard, got)
		}
	}
}

func TestPerformDecidesTheBranch(t *testing.T) {
	p := prologue{mediumFrame, 0x100, 9}
	r := &amd64.Regs{SP: 0x1000, Flags: amd64.RFLAGS_CF | amd64.RFLAGS_ZF | amd64.RFLAGS_IF}
	p.perform(r, 0x400, false)
	if r.IP != 0x409 || r.R12 != 0xf00 || r.Flags != amd64.RFLAGS_IF {
		t.Errorf("%+v", r)
	}
	p.perform(r, 0x400, true)
	if r.Flags&amd64.RFLAGS_CF == 0 {
		t.Error("asked to grow, the branch is not taken")
	}
}
