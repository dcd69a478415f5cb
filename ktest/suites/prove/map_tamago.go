//go:build tamago

package prove

import (
	"fmt"

	"sonde/arch/amd64/insn"
	"sonde/kallsyms"
	"sonde/kprobes"
	"sonde/kprobes/machine"
	"sonde/kprobes/place"
)

// letters say what an instruction is to a probe, by place.Way.
var letters = [...]byte{
	place.Refused: 'R', place.Emulated: 'e', place.Branched: 'r', place.Decided: 'd',
	place.Within: 'w', place.Boosted: 'b', place.Stepped: 's',
}

// drawMap prints, for each function, a letter for each instruction: one of letters, or
// j for a jump, X for a function that may not be probed, R for an instruction that
// cannot be, and ? for all of a function that does not decode.
//
//	f ADDR LETTERS NAME
func (p *prover) drawMap() {
	for fn := range kallsyms.Kernel().Text {
		if fn.Size > 0 {
			fmt.Fprintf(p.out, "f %x %s %s\n", fn.Addr, p.letters(fn), fn.Name)
		}
	}
}

func (p *prover) letters(fn kallsyms.Symbol) []byte {
	var out []byte
	black := machine.This.Blacklisted(fn) != ""
	var all []*boundary
	if !black {
		all, _ = p.boundariesOf(fn)
	}
	code := kprobes.Original(uintptr(fn.Addr), uintptr(fn.Size))
	_, err := insn.Walk(code, func(off int, _ insn.Inst) bool {
		switch at := uintptr(fn.Addr) + uintptr(off); {
		case black:
			out = append(out, 'X')
		case len(all) == 0 || all[0].Addr != at:
			out = append(out, 'R')
		case all[0].region > 0:
			out, all = append(out, 'j'), all[1:]
		default:
			out, all = append(out, letters[all[0].Way(false)]), all[1:]
		}
		return true
	})
	if err != nil {
		return []byte{'?'}
	}
	return out
}
