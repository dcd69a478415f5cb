//go:build !tamago

package program

import (
	"syscall"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/kernel/mm/frame"
	"sonde/kernel/refusal"
	"sonde/probe/attach"
	"sonde/probe/task"
)

// What maps need of the machine, for tests on the host.

func takeRange(n int) ([]byte, error) { return make([]byte, n), nil }
func giveRange([]byte)                {}

func frameAt([]byte) (frame.Frame, error) {
	return frame.None, refusal.New(syscall.ENODEV, "the host has no frames")
}

// inPrograms is set by tests.
var inPrograms = func([]byte) bool { return false }

func cpus() int { return 4 }

//go:nosplit
func irqOff() uint64 { return 0 }

//go:nosplit
func irqRestore(uint64) {}

func synchronize() {}

// code is memory that nothing executes.
var code = newPool(1<<20, 2<<20)

func writeCode(uintptr, []byte) {}

func entering() uintptr { return 0 }

func call(*uintptr, *attach.Hit) uint64 { return 0 }

const offsetM, offsetCurg = 0, 0

func now() int64                                           { return 0 }
func clock() (base, mul uint64)                            { return 0, 0 }
func readable(_, n uintptr) uintptr                        { return n }
func process(*attach.Hit, int) (pid, tid int, comm string) { return 0, 0, "" }
func current(*attach.Hit, int) unsafe.Pointer              { return nil }
func nameOf(*attach.Hit, int) string                       { return "" }
func taskOf(*attach.Hit, int) *task.Task                   { return nil }
func waiting(*attach.Hit, int) int                         { return 0 }
func self() uint64                                         { return 0 }
func goid(*attach.Hit, int) uint64                         { return 0 }
func signal(*attach.Hit, int, int) bool                    { return false }
func userRegs(*attach.Hit, int) *amd64.Regs                { return nil }
func kernelStack(*attach.Hit, int, []uintptr) int          { return 0 }
func collector() (phase, ended uint32)                     { return 0, 0 }

// peek finds each address twice: in the process it is what it is in the kernel.
func peek(_ *attach.Hit, _ int, to unsafe.Pointer, n, addr uintptr) uintptr {
	move(to, pointer(addr), n)
	return n
}
