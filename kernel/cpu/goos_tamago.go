//go:build tamago

package cpu

import (
	"math/bits"
	"runtime/goos"
	"sync/atomic"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
)

// The machine side of the runtime/goos contract that concerns CPUs (boot/overlay/_goos). All of it
// runs below the scheduler: nosplit, interrupts off.

// Serve fills in the contract.
//
// Context: boot, before the runtime.
func Serve(exit func(int32)) {
	goos.Exit = exit
	goos.Idle = idle
	goos.ProcID = procID
	goos.Task = task
	goos.Wake = wake
	goos.Alarm = alarm
	goos.CPUs = numCPUs
	goos.Random = getRandomData
	goos.Program = trap.Program
}

// SetWallClock says what to add to Nanotime to get the Unix time, in ns.
func SetWallClock(offset int64) { goos.WallOffset = offset }

// WallClock returns it.
func WallClock() int64 { return goos.WallOffset }

//go:nosplit
func procID() uint64 { return uint64(trap.Self().ID) }

// idle returns after the next interrupt. No wake-up is lost: interrupts have
// been off since the caller saw that there is nothing to do.
//
//go:nosplit
func idle(int64) { haltOnce() }

// SkipHalt ends the wait of an idle CPU that an NMI met just before its HLT: interrupts are on
// when the NMI returns, so one that wakes this CPU would be taken first, and the HLT wait for the next.
//
// Context: NMI.
//
//go:nosplit
func SkipHalt(r *amd64.Regs) {
	if uintptr(r.IP) == haltAt() {
		r.IP++ // HLT is one byte
	}
}

//go:nosplit
func wake(id uint64) { SendIPI(int(id), amd64.VecWake) }

// alarm sets this CPU's timer. The counter has 32 bits: a late time comes
// early, and is then set again.
//
//go:nosplit
func alarm(at int64) {
	if at == Forever {
		lapicWrite(lapicTimerInit, 0)
		return
	}
	ns := max(at-Nanotime(), 1)
	hi, lo := bits.Mul64(uint64(ns), apicHz)
	ticks := uint64(0xffff_ffff)
	if hi < 1e9 {
		q, _ := bits.Div64(hi, lo, 1e9)
		ticks = min(max(q, 1), ticks)
	}
	lapicWrite(lapicTimerInit, uint32(ticks))
}

// A mailbox tells a parked CPU what to run.
type mailbox struct {
	sp, gp uintptr
	fn     uintptr // written last
}

var (
	mailboxes [trap.MaxCPUs]mailbox
	nextTask  = 1
)

//go:nosplit
func task(sp, _, gp, fn unsafe.Pointer) {
	m := &mailboxes[nextTask]
	nextTask++
	m.sp, m.gp = uintptr(sp), uintptr(gp)
	atomic.StoreUintptr(&m.fn, uintptr(fn))
}

// Park waits for the task of CPU id and becomes it.
//
// Context: boot of that CPU, interrupts off.
func Park(id int) {
	m := &mailboxes[id]
	for atomic.LoadUintptr(&m.fn) == 0 {
		Pause()
	}
	become(m.sp, m.gp, m.fn)
}

// become calls fn on the stack that ends at sp, with gp as its g.
func become(sp, gp, fn uintptr)

// rngState is xorshift64*, seeded and stirred by the TSC; RDRAND is added where
// the CPU has it. Map seeds and the like want it, not cryptography.
var rngState atomic.Uint64

//go:nosplit
func getRandomData(b []byte) {
	_, _, c, _ := CPUID(1, 0)
	for i := range b {
		x := rngState.Load() ^ Rdtsc()
		if c&(1<<30) != 0 {
			x ^= rdrand()
		}
		x ^= x >> 12
		x ^= x << 25
		x ^= x >> 27
		rngState.Store(x | 1)
		b[i] = byte(x * 0x2545f4914f6cdd1d >> 56)
	}
}

func rdrand() uint64
