package kwatch

import (
	"sonde/arch/amd64/insn"
	"sonde/kallsyms"
	"sonde/kernel/text"
)

// Accessor returns where the instruction is after which code goes on at ip: the one that
// hit a data watchpoint, for Hit.IP. If ip is where a function begins it was called from
// elsewhere, and ip is the answer, as it is for what is no function.
func Accessor(ip uintptr) uintptr {
	_, off, size, ok := kallsyms.Lookup(uint64(ip))
	if !ok || off == 0 {
		return ip
	}
	start := ip - uintptr(off)
	return start + uintptr(before(text.Original(start, uintptr(size)), int(off)))
}

// begins reports whether an instruction of a function begins at addr: the processor compares
// addresses, so in the middle of one nothing would ever be hit.
func begins(addr uintptr) bool {
	_, off, size, ok := kallsyms.Lookup(uint64(addr))
	if !ok {
		return false
	}
	found := false
	insn.Walk(text.Original(addr-uintptr(off), uintptr(size)), func(o int, _ insn.Inst) bool {
		found = o == int(off)
		return o < int(off)
	})
	return found
}

// before returns where in code the instruction begins that ends at off; off if none does.
func before(code []byte, off int) int {
	at := off
	insn.Walk(code, func(o int, in insn.Inst) bool {
		if o+int(in.Len) == off {
			at = o
		}
		return o+int(in.Len) < off
	})
	return at
}
