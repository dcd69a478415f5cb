package runtime

// What the kernel asks of the thread shim, for a TamaGo runtime, which has none:
// one thread per CPU, started and idled through goos.
//
// Why it is here: the kernel's sources name these functions; with a TamaGo
// toolchain sonde_shim.go is not there to define them.

import (
	machine "runtime/goos"
	"unsafe"
)

//go:linkname sondeTick
func sondeTick() (late int64) { return 0 }

//go:linkname sondeTickEvery
func sondeTickEvery(ns int64) {}

//go:linkname sondeWake
func sondeWake(n *note) { notewakeup(n) }

//go:linkname sondeMemory
func sondeMemory() (total, free uintptr) {
	total = uintptr(machine.RamSize)
	return total, total - uintptr(memstats.mappedReady.Load())
}

//go:linkname sondeQuiet
func sondeQuiet(i int) uint64 { return uint64(allp[i].schedtick) }

//go:linkname sondeIdle
func sondeIdle(i int) (idle bool, halts uint64, ns int64) {
	return allp[i].status == _Pidle, 0, 0
}

//go:linkname sondeExitContext
func sondeExitContext() (ip, sp, bp uint64, gp unsafe.Pointer) {
	return 0, 0, 0, nil
}
