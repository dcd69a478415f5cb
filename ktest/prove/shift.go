//go:build linux

package main

import (
	"sonde/arch/amd64/insn"
)

// shift leads from an address of the kernel's, modulo 2⁶⁴, to where a process has the same: the upper
// half is not for processes. It is a little below the end of their addresses, so that FS can have it
// for its base, and the traps' stacks, which are lowest in the upper half, come to lie above 0.
//
// What a process repeats has these addresses shifted: IP; SP, if an instruction pushes or pops; and
// that of a memory operand, which gets the prefix FS, so that registers and flags are the kernel's.
const shift = 1<<47 - 16<<20

const fsPrefix = 0x64

// shifted is where the process has what the kernel has at addr. An address of the process's stays.
func shifted(addr uint64) uint64 {
	if addr >= 1<<63 {
		return addr + shift
	}
	return addr
}

// shifted is the code as the process has it.
func (c *code) shifted() *code {
	s := &code{addr: shifted(c.addr), bytes: c.bytes}
	for _, f := range c.functions {
		s.functions = append(s.functions, function{shifted(f.addr), f.size})
	}
	return s
}

// usesStack reports whether one of the instructions pushes or pops, and whether there are others,
// which may compute with SP.
func usesStack(code []byte) (uses, computes bool) {
	n := 0
	insn.Walk(code, func(_ int, in insn.Inst) bool {
		uses = uses || in.Trait.Has(insn.Push) || in.Trait.Has(insn.Pop)
		n++
		return true
	})
	return uses, uses && n > 1
}

// wantsPrefix reports whether the first of the instructions has a memory operand that is not
// shifted by IP or SP.
func wantsPrefix(code []byte, stack bool) bool {
	in, err := insn.Decode(code)
	if err != nil {
		return false
	}
	m, ok := in.MemOperand()
	return ok && !m.RIPRel && !(stack && m.Base == insn.RSP)
}

// prefix writes the prefix FS before the code at addr; restore takes it back.
func (p *processor) prefix(addr uint64) (restore func() error, err error) {
	var old [1]byte
	at := int64(shifted(addr) - 1)
	if _, err = p.mem.ReadAt(old[:], at); err == nil {
		_, err = p.mem.WriteAt([]byte{fsPrefix}, at)
	}
	return func() error {
		_, err := p.mem.WriteAt(old[:], at)
		return err
	}, err
}

// unshift makes what o has shifted what the kernel has for it.
func (o *observed) unshift(kernel *observed) {
	have := o.fields()
	for i, want := range kernel.fields() {
		if *have[i] != *want && *have[i]-shift == *want {
			*have[i] = *want
		}
	}
}
