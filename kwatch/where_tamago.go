//go:build tamago

package kwatch

import (
	"strings"
	"syscall"
	"unsafe"

	"sonde/kallsyms"
	"sonde/kernel/goruntime"
	"sonde/kernel/mm"
	"sonde/kernel/refusal"
)

// ownData are packages, and variables of the runtime, that a hit uses before it knows
// whether it is nested: if they were watched, a hit would recurse for ever.
var ownData = []string{"sonde/arch/amd64/trap.", "sonde/kwatch.", "runtime.sondeTrapG", "runtime.sondeTrapM", "runtime.writeBarrier"}

// noProbe is Others.NoProbe.
var noProbe func(addr uintptr) string

// refuse is machine.refuse.
func refuse(addr uintptr, length int, typ Type, object bool) error {
	p := point{addr: addr, typ: typ}
	no := func(errno syscall.Errno, why string) error {
		return refusal.New(errno, "kwatch: %s: %s", p.what(), why)
	}
	if _, _, mapped := mm.Tables.Lookup(uint64(addr)); !mapped {
		return no(syscall.EFAULT, "nothing is mapped there")
	}
	if typ == Execute {
		if !mm.Text.Contains(addr) {
			return no(syscall.EINVAL, "this address is not kernel code")
		}
		if why := noProbe(addr); why != "" {
			return no(syscall.EINVAL, "hits execute this code: "+why)
		}
		if !begins(addr) {
			return no(syscall.EILSEQ, "no instruction begins there")
		}
		return nil
	}
	switch {
	case mm.Data.Contains(addr):
		name, _, _, _ := kallsyms.Lookup(uint64(addr))
		for _, own := range ownData {
			if strings.HasPrefix(name, own) {
				return no(syscall.EINVAL, "hits use this data themselves")
			}
		}
	case mm.ROData.Contains(addr):
		if typ == Write {
			return no(syscall.EINVAL, "it is read-only")
		}
	case onStack(addr):
		return no(syscall.EINVAL, "it is on a stack, which moves when it grows")
	case mm.Heap.Contains(addr):
		if !object {
			return no(syscall.EINVAL, "it is in the heap or on a stack, where an object may be freed or moved: watch a variable of a package, or pass a pointer to RegisterKwatchObject")
		}
	default:
		return no(syscall.EINVAL, "this address is not kernel data")
	}
	return nil
}

// onStack reports whether addr is in the caller's stack. Go code cannot get a pointer into
// another goroutine's stack.
func onStack(addr uintptr) bool {
	g := goruntime.Task()
	if g == 0 {
		return false
	}
	lo, hi := goruntime.Stack(*(*unsafe.Pointer)(unsafe.Pointer(&g))) // Safe because: a g is never freed
	return addr >= lo && addr < hi
}
