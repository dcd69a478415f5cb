package program

import (
	"fmt"
	"maps"
	"slices"

	"sonde/arch/amd64/goabi"
	"sonde/bpf"
	"sonde/bpf/jit"
	"sonde/bpf/verify"
)

// env is what programs find here: the registers of a hit or a record, and those of Linux's helpers that there are.
var env = newEnv()

func newEnv() *verify.Env {
	e := verify.NewEnv()
	maps.DeleteFunc(e.Helpers, func(n int32, _ *verify.Helper) bool { return helperOf(n) == nil && !slices.Contains(inlined, n) })
	return e
}

// Some helpers, by Linux's numbers: those of which some calls are inlined, and those by which programs say
// something.
const (
	lookupElement   = 1
	getTime         = 5
	getCPU          = 8
	reserveRecord   = 131
	submitRecord    = 132
	discardRecord   = 133
	tracePrint      = 6
	tracePrintWords = 177
)

// inlined are the helpers that are no functions, but code in programs.
var inlined = []int32{getCPU, bpf.TailCall}

// helper returns what the call of a helper at pc does.
func (v *version) helper(pc int, number int32) (jit.Helper, error) {
	p, f := v.prog, helperOf(number)
	if !slices.Contains(p.Checked.Calls, int(number)) {
		// The verifier has seen that no path comes here, as a loader has it that replaces what is not there.
		return jit.Helper{Inline: []byte{0x31, 0xc0}}, nil // XORL AX, AX
	}
	if f == nil && !slices.Contains(inlined, number) {
		return jit.Helper{}, fmt.Errorf("there is no helper %d", number)
	}
	makeScratch()
	if number == tracePrint || number == tracePrintWords {
		if err := canSay(); err != nil {
			return jit.Helper{}, err
		}
	}
	h := jit.Helper{CPU: true, Link: true}
	if f != nil {
		h.Entry = goabi.CodeOf(f)
	}
	m := p.mapOf(p.Checked.Maps[pc])
	if number == lookupElement && m.hasWords() {
		h.Entry = goabi.CodeOf(helpLookupWord)
	}
	switch {
	case number == bpf.TailCall:
		return v.tailCall(), nil
	case number == submitRecord && p.sharing():
		return jit.Helper{Entry: goabi.CodeOf(helpSubmitShared)}, nil
	case number == discardRecord && p.sharing():
		return jit.Helper{Entry: goabi.CodeOf(helpDiscardShared)}, nil
	}
	index, known := p.Checked.Indices[pc]
	if !known {
		index = -1
	}
	h.Inline, h.Slow = inline(number, m, index)
	if number == lookupElement && m.isElement() {
		const onlyKey = 1<<1 | 1<<3 | 1<<4 | 1<<5
		if h.Unread, h.NotZero = onlyKey, m.inside(index); h.NotZero {
			h.Unread |= 1 << 2
		}
	}
	return h, nil
}

// inline returns the code that stands for a helper's call, nil if none does. m is the map that it always
// gets, and index the key of an array; nil, -1: they are not known.
func inline(number int32, m *Map, index int64) (code []byte, slow []int) {
	switch {
	case number == getCPU:
		return inlineCPU(), nil
	case number == getTime:
		return inlineTime(), nil
	case number == submitRecord:
		return inlineSubmit(), nil
	case number == bpf.HelperLog2:
		return inlineLog2(), nil
	case m == nil:
		return nil, nil
	case number == lookupElement && m.isElement():
		return m.inlineElement(index), nil
	case number == bpf.HelperHistAdd && m.isElement():
		return m.inlineHistAdd(index)
	case number == reserveRecord && m.ring != nil:
		return m.inlineReserve()
	}
	return nil, nil
}

// mapOf returns the map that the verifier knows by its spec.
func (p *Prog) mapOf(s *bpf.MapSpec) *Map {
	for _, m := range p.maps {
		if s == &m.Spec {
			return m
		}
	}
	return nil
}
