//go:build tamago

package kprobes

// Trap context. A jprobe's handler is called as the function would have been.

import (
	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kernel/cpu"
	"sonde/kernel/die"
	"sonde/kernel/printk"
)

// endMirrored is JprobeReturn.
func endMirrored() {
	sp := mirrorSP[cpu.ID()]
	if sp == 0 {
		panic("kprobes: JprobeReturn outside a jprobe handler")
	}
	leaveMirror(sp)
}

// mirrorSP is the stack of the callMirrored that runs on each CPU, 0 if none.
var mirrorSP [trap.MaxCPUs]uintptr

func leaveMirror(sp uintptr)

// callMirrored calls code with the closure context, the integer and SSE argument registers
// of r and xmm, and a copy of words words of stack arguments. It returns 1 if the handler
// ended with JprobeReturn, 0 if it returned.
//
//go:noescape
func callMirrored(code, context uintptr, r *amd64.Regs, xmm *[16][16]byte, words uintptr) (ended int)

// mirror is the pre-handler of the entry.
func (j *Jprobe) mirror(id int, r *amd64.Regs) {
	ended := callMirrored(j.code, j.context, r, trap.XMM(r), j.words)
	mirrorSP[id] = 0
	if ended == 0 && !j.sloppy {
		j.sloppy = true
		printk.Warn("kprobes: the jprobe handler of %s returned without JprobeReturn", die.Symbol(uint64(j.KP.Addr)))
	}
}
