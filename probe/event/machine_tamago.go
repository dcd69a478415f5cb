//go:build tamago

package event

import (
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kernel/goruntime"
	"sonde/kernel/irq"
	"sonde/kernel/kthread"
	"sonde/probe/attach"
)

// What records need of the machine.

const maxCPUs = trap.MaxCPUs

func cpuOf(h *attach.Hit) int    { return h.CPU() }
func timeOf(h *attach.Hit) int64 { return h.Time() }

// goroutine returns the goroutine that was hit, also where that has switched to its M's own stack; nil: the scheduler was.
func goroutine(h *attach.Hit) unsafe.Pointer { return goruntime.Current(trap.G(h.Regs)) }

func goid(g unsafe.Pointer) uint64              { return goruntime.Goid(g) }
func threadOf(g unsafe.Pointer) unsafe.Pointer  { return goruntime.ThreadOf(g) }
func nameOf(g unsafe.Pointer) string            { return kthread.NameOf(g) }
func waits(g unsafe.Pointer) string             { return goruntime.WaitReason(g) }
func stackOf(g unsafe.Pointer) (lo, hi uintptr) { return goruntime.Stack(g) }

func runs(g unsafe.Pointer) bool {
	is, _ := goruntime.Goroutine(g)
	return is
}

func ended(g unsafe.Pointer) bool { return goruntime.Ended(g) }

func collections() uint32 {
	_, ended := goruntime.GC()
	return ended
}

// interrupt returns the number and the name of the interrupt that is handled.
func interrupt(_ *point, h *attach.Hit) (n int, name string) {
	if h.Returns {
		return irq.Describe(h.Data[0])
	}
	return irq.Describe((*amd64.Regs)(pointer(h.Regs.AX)).Vector)
}

// noteVector is the entry handler of interrupts whose return is probed.
func noteVector(h *attach.Hit) bool {
	h.Data[0] = (*amd64.Regs)(pointer(h.Regs.AX)).Vector
	return true
}
