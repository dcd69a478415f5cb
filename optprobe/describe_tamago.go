//go:build tamago

package optprobe

import (
	"unsafe"

	"sonde/kernel/mm"
	"sonde/kprobes"
	"sonde/kprobes/detour"
)

// What package explain shows: the function, check and layout that the optimizer uses,
// without changing anything.

// At returns what the check knows about the function that contains addr.
func At(addr uintptr) Function { return function(addr) }

// Draft returns the detour that the probe at addr would get, laid out where the next one goes, and its code from Entry
// on. fn is the function, size the region's length, check that of the stack check there
// without its last branch.
//
// Errors: an Obstacle that Check does not see, because it depends on where the detour is.
func Draft(fn Function, addr uintptr, size, check int, begins detour.Template) (detour.Detour, []byte, Obstacle) {
	head, _ := kprobes.Detours().Next()
	p, why := layout(&request{fn: fn, addr: addr, head: head, size: size, check: check, begins: begins})
	if why.Reason != Fine {
		return detour.Detour{}, nil, why
	}
	return p.Detour, p.code[p.Entry-p.Head:], Obstacle{}
}

// Live returns n bytes of code, or of a detour, as they are now; nil if addr is in neither.
func Live(addr uintptr, n int) []byte {
	in := func(r mm.Range) bool { return r.Contains(addr) && r.Contains(addr+uintptr(n)-1) }
	if n <= 0 || !in(mm.Slots) && !in(mm.Text) {
		return nil
	}
	// Safe because: it is mapped for good, and copied.
	return append([]byte(nil), unsafe.Slice((*byte)(unsafe.Pointer(addr)), n)...)
}
