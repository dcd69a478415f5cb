package kwatch

import (
	"sonde/arch/amd64/insn"
	"sonde/kallsyms"
	"sonde/kernel/text"
)

// Accessor returns the address of the instruction before ip: for the Hit.IP of a data
// watchpoint, the one that made the access. If ip is the beginning of a function, or is in
// no function, it returns ip.
func Accessor(ip uintptr) uintptr {
	_, off, size, ok := kallsyms.Lookup(uint64(ip))
	if !ok || off == 0 {
		return ip
	}
	start := ip - uintptr(off)
	return start + uintptr(before(text.Original(start, uintptr(size)), int(off)))
}

// begins reports whether an instruction of a function begins at addr. The processor
// compares addresses, so a watchpoint in the middle of an instruction would never be hit.
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

// before returns the offset in code of the instruction that ends at off, or off if there is
// none.
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
