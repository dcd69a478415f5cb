package goabi

import (
	"sonde/arch/amd64"
	"sonde/arch/amd64/insn"
)

// Words are the registers in which calls pass words, in order: a string is two words, a
// slice three. Arguments are there at a function's entry, results after its return.
type Words []int8

// Go is for arguments and results of compiled Go functions. Source: "Go internal ABI
// specification", "amd64 architecture".
var Go = Words{insn.RAX, insn.RBX, insn.RCX, insn.RDI, insn.RSI, insn.R8, insn.R9, insn.R10, insn.R11}

// SystemV is for arguments in most other programs, SystemCall for those of system calls. Source: "System V
// Application Binary Interface, AMD64", "Parameter Passing" and "Linux Conventions".
var (
	SystemV    = Words{insn.RDI, insn.RSI, insn.RDX, insn.RCX, insn.R8, insn.R9}
	SystemCall = Words{insn.RDI, insn.RSI, insn.RDX, insn.R10, insn.R8, insn.R9}
)

// Get returns the i-th word, which must be one of those in registers.
//
// Context: any.
func (w Words) Get(r *amd64.Regs, i int) uint64 { return *r.Register(w[i]) }
