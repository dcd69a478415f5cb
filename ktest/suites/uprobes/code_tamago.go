//go:build tamago

package uprobes

import (
	"debug/elf"

	"sonde/arch/amd64/insn"
	"sonde/ktest/suites"
	"sonde/linux/proc"
)

// boundaries returns where the instructions of [addr,addr+size) begin.
func boundaries(t *suites.T, in *proc.Process, addr, size uint64) (all []uint64) {
	code := make([]byte, size)
	_, err := in.Memory().Text(code, addr)
	t.Must(err)
	_, err = insn.Walk(code, func(off int, _ insn.Inst) bool {
		all = append(all, addr+uint64(off))
		return true
	})
	t.Must(err)
	return all
}

// boundariesOf reads them from the program's file.
func boundariesOf(p *program, s elf.Symbol) (all []uint64) {
	for _, h := range p.file.Progs {
		if h.Type != elf.PT_LOAD || s.Value < h.Vaddr || s.Value >= h.Vaddr+h.Filesz {
			continue
		}
		code := make([]byte, s.Size)
		h.ReadAt(code, int64(s.Value-h.Vaddr))
		insn.Walk(code, func(off int, _ insn.Inst) bool {
			all = append(all, s.Value+uint64(off))
			return true
		})
	}
	return all
}
