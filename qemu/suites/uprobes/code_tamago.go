//go:build tamago

package uprobes

import (
	"sonde/arch/amd64/insn"
	"sonde/kernel/proc"
	"sonde/qemu/suites"
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
