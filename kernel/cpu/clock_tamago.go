//go:build tamago

package cpu

import (
	"math/bits"
	"time"
	_ "unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/phys"
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
	roughly bool // no two measurements agreed
)

// TSC returns the counter's frequency in Hz and what it was measured against.
func TSC() (hz uint64, reference string) {
	if roughly {
		return tscHz, refName + " (no two measurements agree: the least)"
	}
	return tscHz, refName
}

// Clock returns the numbers with which Nanotime computes: see there.
func Clock() (base, mul uint64) { return tscBase, tscMul }

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

// Calibrate measures the TSC and the local APIC timer, twice 10 ms or more, against the first of
// the machine's timers that runs, or the one called want if that is not "". If no two measurements
// agree with any of them, the least with the first is taken: the host is so busy that it takes the
// CPU away in each. It returns false if none runs.
//
// Context: boot, before the runtime; the local APIC must be on.
func Calibrate(a *acpi.Info, want string) bool {
	var rough measured
	var by *reference
	for i := range references {
		ref := &references[i]
		if want != "" && ref.name != want || !ref.prepare(ref, a) {
			continue
		}
		m, ok := calibrate(func(part uint64) (measured, bool) {
			ref.prepare(ref, a) // a PIT that counts down once starts again
			lapicWrite(lapicTimerInit, 0xffff_ffff)
			m, ok := ref.measure(Rdtsc, lapicCount, part)
			lapicWrite(lapicTimerInit, 0)
			return m, ok
		})
		if ok {
			ref.use(m)
			return true
		}
		if by == nil && m.tsc != 0 {
			rough, by = m, ref
		}
	}
	if by == nil {
		return false
	}
	roughly = true
	by.use(rough)
	return true
}

// use makes the clock what m says.
func (ref *reference) use(m measured) {
	tscHz, apicHz, refName = m.tsc, m.apic, ref.title
	tscMul = 1e9 << 32 / tscHz
	tscBase = m.start
}

func lapicCount() uint32 { return lapicRead(lapicTimerCount) }

// references are what there may be, best first: what is cheap to read and hard to get
// wrong.
var references = [...]reference{
	{name: "pm", title: "ACPI PM timer", prepare: preparePM, read: readPM, hz: 3579545, mask: 0xff_ffff},
	{name: "pit", title: "PIT", prepare: preparePIT, read: readPIT, hz: 1193182, mask: 0xffff, down: true},
	{name: "hpet", title: "HPET", prepare: prepareHPET, read: readHPET, mask: 0xffff_ffff},
	{name: "cpuid", title: "processor's own word", prepare: prepareCPUID, read: Rdtsc, mask: ^uint64(0), runs: true},
}

// pmPort is the ACPI PM timer's port.
var pmPort uint16

func preparePM(_ *reference, a *acpi.Info) bool {
	pmPort = uint16(a.FADT.PMTimer.Addr)
	return a.FADT.PMTimer.IO()
}

func readPM() uint64 { return uint64(In32(pmPort)) }

// preparePIT makes channel 2 of the PIT count down from 0xffff without an interrupt, gate on
// and speaker off: 8254 data sheet, mode 0.
func preparePIT(*reference, *acpi.Info) bool {
	Out8(0x61, In8(0x61)&^2|1)
	Out8(0x43, 0xb0)
	Out8(0x42, 0xff)
	Out8(0x42, 0xff)
	return true
}

func readPIT() uint64 {
	Out8(0x43, 0x80) // latch channel 2
	lo := In8(0x42)
	return uint64(lo) | uint64(In8(0x42))<<8
}

// hpetBase is where the HPET's registers are.
var hpetBase uintptr

// prepareHPET makes the HPET count.
//
// Source: IA-PC HPET Specification 1.0a, "Register Overview".
func prepareHPET(ref *reference, a *acpi.Info) bool {
	const period, config, enable, lowest, end = 4, 0x10, 1, 0xfe00_0000, 1 << 32 // of what boot has mapped
	base := a.HPET.Base
	if !a.HPET.Found || base.Space != acpi.SpaceMemory || base.Addr < lowest || base.Addr >= end-0x400 {
		return false
	}
	hpetBase = phys.Direct(base.Addr)
	femto := ReadMMIO32(hpetBase + period)
	if femto == 0 || femto > 100_000_000 { // what the specification allows
		return false
	}
	ref.hz = 1e15 / uint64(femto)
	WriteMMIO32(hpetBase+config, ReadMMIO32(hpetBase+config)|enable)
	return true
}

func readHPET() uint64 { return uint64(ReadMMIO32(hpetBase + 0xf0)) }

// prepareCPUID takes the TSC for its own reference; what is measured is the APIC's timer.
func prepareCPUID(ref *reference, _ *acpi.Info) bool {
	ref.hz = amd64.TSCFrequency(CPUID)
	return ref.hz != 0
}
