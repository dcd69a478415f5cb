package kbpf

import (
	"fmt"
	"maps"

	"sonde/arch/amd64/goabi"
	"sonde/bpf"
	"sonde/bpf/jit"
	"sonde/bpf/verify"
)

// env is what programs find here: the registers of a hit, and those of Linux's helpers that there are.
var env = newEnv()

func newEnv() *verify.Env {
	e := verify.NewEnv()
	maps.DeleteFunc(e.Contexts, func(t bpf.Type, _ *verify.Context) bool { return t != bpf.Kprobe })
	maps.DeleteFunc(e.Helpers, func(n int32, _ *verify.Helper) bool { return helpers[n] == nil && n != getCPU })
	return e
}

// Some helpers, by Linux's numbers: those of which some calls are inlined, and those by which programs say
// something.
const (
	lookupElement   = 1
	getCPU          = 8
	tracePrint      = 6
	tracePrintWords = 177
)

// helper returns what the call of a helper at pc does.
func (p *Prog) helper(pc int, number int32) (jit.Helper, error) {
	switch {
	case number == getCPU:
		return jit.Helper{Inline: inlineCPU()}, nil
	case number == lookupElement:
		if m := p.mapOf(p.Checked.Maps[pc]); m.isElement() {
			return jit.Helper{Inline: m.inlineElement()}, nil
		}
	}
	makeScratch()
	if number == tracePrint || number == tracePrintWords {
		if err := canSay(); err != nil {
			return jit.Helper{}, err
		}
	}
	f := helpers[number]
	if f == nil {
		return jit.Helper{}, fmt.Errorf("there is no helper %d", number)
	}
	return jit.Helper{Entry: goabi.CodeOf(f), CPU: true, Link: true}, nil
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
