package kprobes

import "sonde/arch/amd64/insn"

// JumpSize is the bytes of code that a jump replaces.
const JumpSize = insn.JumpSize

// maxCovered bounds Detour.Len, in bytes.
const maxCovered = 32

// A Detour is where the jump of a site leads, made by package optprobe.
type Detour struct {
	Addr   uintptr // the probed address
	Head   uintptr // of the detour, in detour memory
	Entry  uintptr // what the jump leads to
	Resume uintptr // where the copy begins
	Len    uintptr // bytes from Addr on that the jump replaces or the copy executes
	Return bool    // laid out for a return probe and nothing else
	// Original returns where the instruction at ip, in the detour, belongs.
	// Context: any.
	Original func(ip uintptr) uintptr
	// Pushed reports whether at ip, in the detour, a call has been left half
	// done: its return address is on the stack already. Context: any.
	Pushed func(ip uintptr) bool

	site *site // kept for who still is on the way to its handlers
}

// crowded reports whether another probe is on the bytes that the detour covers.
func (s *site) crowded() bool {
	for off := uintptr(1); off < s.detour.Len; off++ {
		if find(s.addr+off) != nil {
			return true
		}
	}
	return false
}
