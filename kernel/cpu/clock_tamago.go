//go:build tamago

package cpu

import (
	"math/bits"
	"time"
	_ "unsafe"

	"sonde/kernel/acpi"
)

// The clock is the time-stamp counter, measured once at boot against a timer
// of known frequency. All CPUs' counters are taken to agree.

// written once at boot:
var (
	tscHz   uint64
	apicHz  uint64
	tscBase uint64
	tscMul  uint64 // nanoseconds per tick, 32.32 fixed point
	refName string
)

// TSC returns the counter's frequency in Hz and what it was measured against.
func TSC() (hz uint64, reference string) { return tscHz, refName }

// nanotime returns nanoseconds since boot, never 0.
//
//go:nosplit
//go:linkname nanotime runtime/goos.Nanotime
func nanotime() int64 { return Nanotime() }

// Nanotime returns nanoseconds since boot.
//
// Context: any. It is nosplit because the runtime and the thread shim read it
// on stacks of their own.
//
//go:nosplit
func Nanotime() int64 {
	hi, lo := bits.Mul64(Rdtsc()-tscBase, tscMul)
	return int64(hi<<32|lo>>32) + 1
}

// Duration is how long the TSC takes for so many ticks.
//
// Context: any.
func Duration(ticks uint64) time.Duration {
	hi, lo := bits.Mul64(ticks, tscMul)
	return time.Duration(hi<<32 | lo>>32)
}

// A reference is a counter of known frequency.
type reference struct {
	name string
	read func() uint64
	hz   uint64
	mask uint64
	down bool // it counts down
}

// Calibrate measures the TSC and the local APIC timer, about 20 ms.
//
// Context: boot, before the runtime; the local APIC must be on.
func Calibrate(a *acpi.Info) {
	ref := chooseReference(a)
	refName = ref.name
	lapicWrite(lapicTimerInit, 0xffff_ffff)
	t0, r0 := sample(&ref)
	a0 := lapicRead(lapicTimerCount)
	for ref.since(r0) < ref.hz/50 {
		Pause()
	}
	t1, r1 := sample(&ref)
	a1 := lapicRead(lapicTimerCount)
	lapicWrite(lapicTimerInit, 0)
	ticks := (r1 - r0) & ref.mask
	if ref.down {
		ticks = (r0 - r1) & ref.mask
	}
	tscHz = scale(t1-t0, ref.hz, ticks)
	apicHz = scale(uint64(a0-a1), ref.hz, ticks)
	tscMul = 1e9 << 32 / tscHz
	tscBase = t0
}

// scale returns n*hz/ticks without overflow.
func scale(n, hz, ticks uint64) uint64 {
	hi, lo := bits.Mul64(n, hz)
	q, _ := bits.Div64(hi, lo, ticks)
	return q
}

// sample reads TSC and reference together: the try with the least time between,
// since an emulator or a hypervisor may take the CPU away at any moment.
func sample(ref *reference) (tsc, r uint64) {
	best := ^uint64(0)
	for i := 0; i < 16; i++ {
		t0 := Rdtsc()
		v := ref.read()
		t1 := Rdtsc()
		if t1-t0 < best {
			best, tsc, r = t1-t0, t0+(t1-t0)/2, v
		}
	}
	return tsc, r
}

func (ref *reference) since(r0 uint64) uint64 {
	r := ref.read()
	if ref.down {
		return (r0 - r) & ref.mask
	}
	return (r - r0) & ref.mask
}

// pmPort is the ACPI PM timer's port.
var pmPort uint16

// chooseReference prefers what is cheapest to read and hardest to get wrong.
func chooseReference(a *acpi.Info) reference {
	if a.FADT.PMTimer.IO() {
		pmPort = uint16(a.FADT.PMTimer.Addr)
		return reference{"ACPI PM timer", readPM, 3579545, 0xff_ffff, false}
	}
	// PIT channel 2 counts down from 0xffff without an interrupt, gate on and
	// speaker off: 8254 data sheet, mode 0.
	Out8(0x61, In8(0x61)&^2|1)
	Out8(0x43, 0xb0)
	Out8(0x42, 0xff)
	Out8(0x42, 0xff)
	return reference{"PIT", readPIT, 1193182, 0xffff, true}
}

func readPM() uint64 { return uint64(In32(pmPort)) }

func readPIT() uint64 {
	Out8(0x43, 0x80) // latch channel 2
	lo := In8(0x42)
	return uint64(lo) | uint64(In8(0x42))<<8
}
