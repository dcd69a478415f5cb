//go:build tamago

package kprobes

// Trap context. Instructions that cannot be stepped elsewhere are done here, on
// the saved registers.

import (
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/insn"
	"sonde/kernel/cpu"
)

// emulate executes s's instruction on r. What it loads and stores is the
// interrupted code's own memory, so it faults where the instruction would, and r
// is not changed then.
//
// Context: trap.
func (s *site) emulate(r *amd64.Regs) {
	var v uint64
	if addr, ok := s.op.Loads(r, segmentBase(s.op.Seg())); ok {
		v = load(addr)
	}
	if p, ok := s.op.Pushes(r); ok {
		store(r.SP-8, p)
	}
	s.op.Finish(r, v)
}

// segmentBase returns what the interrupted kernel code has as the base of seg:
// traps out of ring 0 change neither.
func segmentBase(seg insn.Seg) uint64 {
	switch seg {
	case insn.SegFS:
		return cpu.Rdmsr(amd64.MSR_FS_BASE)
	case insn.SegGS:
		return cpu.Rdmsr(amd64.MSR_GS_BASE)
	}
	return 0
}

// load and store reach the interrupted code's memory.
func load(addr uint64) uint64 { return *at(addr) }
func store(addr, v uint64)    { *at(addr) = v }

// at returns addr as a pointer.
// Safe because: the address is what the code's own instruction would use.
func at(addr uint64) *uint64 { return *(**uint64)(unsafe.Pointer(&addr)) }
