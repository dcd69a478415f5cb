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

func SondeTick() (late int64) { return 0 }

func SondeTickEvery(ns int64) {}

func SondeWake(n *SondeNote) { notewakeup(n) }

func SondeMemory() (total, free uintptr) {
	total = uintptr(machine.RamSize)
	return total, total - uintptr(memstats.mappedReady.Load())
}

// SondeTakeBlock has none to give: TamaGo's runtime has all memory to itself.
func SondeTakeBlock(n, keep uintptr) uintptr { return 0 }

func SondeGiveBlock(addr, n uintptr) {}

func SondeQuiet(i int) uint64 { return uint64(allp[i].schedtick) }

func SondePass() {
	mp := acquirem()
	mp.p.ptr().schedtick++
	releasem(mp)
}

func SondeIdle(i int) (idle bool, halts uint64, ns int64) {
	return allp[i].status == _Pidle, 0, 0
}

func SondeRunning(i int) (gp, thread unsafe.Pointer) {
	if mp := allp[i].m.ptr(); mp != nil && mp.curg != nil {
		return unsafe.Pointer(mp.curg), mp.curg.sondeThread
	}
	return nil, nil
}

func SondeExitContext() (ip, sp, bp uint64, gp unsafe.Pointer) {
	return 0, 0, 0, nil
}

func SondeLocked() bool { return false }

// Programs in ring 3 need the shim: nobody would interrupt them.
func SondeWanted(i int) *int32 { return new(int32) }

func SondeBind(cpus uint32) {}

func SondeSetTimer() {}

func SondeYield() { Gosched() }
