//go:build tamago

package cpu

import (
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/msr"
	"sonde/arch/amd64/phys"
	"sonde/arch/amd64/trap"

	"github.com/usbarmory/tamago/amd64/lapic"
)

// The local APIC, in the mode in which firmware has left it. TamaGo's driver gives the registers' names;
// its functions are not nosplit, and IPIs are sent below the scheduler.
//
// Source: Intel SDM vol. 3A, "Advanced Programmable Interrupt Controller".
const (
	lapicID         = lapic.LAPIC_ID
	lapicEOI        = lapic.LAPIC_EOI
	lapicTPR        = 0x80
	lapicVersion    = 0x30
	lapicSVR        = lapic.LAPIC_SVR
	lapicISR        = 0x100 // the first of 8
	lapicLVTCMCI    = 0x2f0
	lapicLVTThermal = 0x330
	lapicLVTCount   = 0x340
	lapicICRL       = lapic.LAPIC_ICRL
	lapicICRH       = lapic.LAPIC_ICRH
	lapicLVTTimer   = lapic.LAPIC_LVT_TIMER
	lapicLVTLint0   = 0x350
	lapicLVTLint1   = 0x360
	lapicLVTError   = 0x370
	lapicTimerInit  = 0x380
	lapicTimerCount = 0x390
	lapicTimerDiv   = 0x3e0

	lvtMasked = 1 << 16
	divideBy1 = 0xb
)

// written once at boot:
var (
	lapicBase uintptr = phys.DirectBase + 0xfee00000
	apicIDs   [trap.MaxCPUs]uint32
	numCPUs   int
	x2apic    bool // the registers are MSRs
)

//go:nosplit
func lapicRead(reg uintptr) uint32 {
	if x2apic {
		return uint32(msr.Read(amd64.X2Register(uint32(reg))))
	}
	// Safe because: the register page is mapped, uncached, for good.
	return *(*uint32)(unsafe.Pointer(lapicBase + reg))
}

//go:nosplit
func lapicWrite(reg uintptr, v uint32) {
	if x2apic {
		msr.Write(amd64.X2Register(uint32(reg)), uint64(v))
		return
	}
	// Safe because: see lapicRead.
	*(*uint32)(unsafe.Pointer(lapicBase + reg)) = v
}

// InitLAPIC turns this CPU's local APIC on, its pins and all that it could interrupt for
// masked, nothing in service, and returns the APIC id. base is the register page's address.
//
// Context: boot of that CPU, before the runtime.
func InitLAPIC(base uint64) uint32 {
	lapicBase = phys.Direct(base)
	mode := msr.Read(amd64.MSR_APIC_BASE)
	if numCPUs == 0 { // the others follow the first
		x2apic = amd64.X2APIC(mode)
	}
	for _, w := range amd64.EnableAPIC(mode, x2apic) {
		msr.Write(amd64.MSR_APIC_BASE, w)
	}
	lapicWrite(lapicTPR, 0)
	lapicWrite(lapicLVTTimer, amd64.VecTimer|lvtMasked)
	lapicWrite(lapicTimerDiv, divideBy1)
	lapicWrite(lapicLVTLint0, lvtMasked)
	lapicWrite(lapicLVTLint1, lvtMasked)
	lapicWrite(lapicLVTError, lvtMasked)
	for i, reg := range [...]uintptr{lapicLVTCount, lapicLVTThermal, lapicLVTCMCI} {
		if last := lapicRead(lapicVersion) >> 16 & 0xff; last >= uint32(i)+4 {
			lapicWrite(reg, lvtMasked)
		}
	}
	endAll()
	lapicWrite(lapicSVR, 1<<lapic.SVR_ENABLE|amd64.VecSpurious)
	lapicWrite(lapicLVTTimer, amd64.VecTimer)
	if x2apic {
		return lapicRead(lapicID)
	}
	return lapicRead(lapicID) >> lapic.ID
}

// endAll ends what firmware has begun to serve and never ended: nothing of that priority
// or less would come.
func endAll() {
	for i := uintptr(0); i < 8; i++ {
		for n := 0; n < 32 && lapicRead(lapicISR+i<<4) != 0; n++ {
			lapicWrite(lapicEOI, 0)
		}
	}
}

// InService reports whether this CPU has taken an interrupt that has not been ended by EOI.
//
// Context: any, with interrupts off.
func InService() bool {
	for i := uintptr(0); i < 8; i++ {
		if lapicRead(lapicISR+i<<4) != 0 {
			return true
		}
	}
	return false
}

// ForgetFirmware clears what firmware may have left in model-specific registers and nothing
// else writes: a trap flag that means branches instead of instructions, and where SYSENTER
// would lead a program, into ring 0.
//
// Context: boot of that CPU.
// Source: Intel SDM vol. 4, IA32_DEBUGCTL and IA32_SYSENTER_CS; AMD APM vol. 2, "DebugCtl MSR".
func ForgetFirmware() {
	msr.Write(amd64.MSR_DEBUGCTL, 0)
	msr.Write(amd64.MSR_SYSENTER_CS, 0)
}

// MaxAPIC returns the greatest APIC id that an interrupt can be sent to.
func MaxAPIC() uint32 {
	if x2apic {
		return ^uint32(0) - 1
	}
	return 0xfe
}

// InitPAT makes pages with PTE_PWT write-combining on this CPU; nothing else asks for
// that bit. Those with PTE_PCD stay uncached.
//
// Context: boot of that CPU.
// Source: Intel SDM vol. 3A, "Page Attribute Table (PAT)".
func InitPAT() {
	const usual, writeThrough, writeCombining = 0x0007_0406_0007_0406, 4 << 8, 1 << 8
	if _, _, _, d := CPUID(1, 0); d&(1<<16) != 0 {
		msr.Write(amd64.MSR_PAT, usual&^writeThrough|writeCombining)
	}
}

// AddCPU gives the next CPU index to apic and returns it; ok is false when
// there are MaxCPUs already.
//
// Context: boot, before the runtime.
func AddCPU(apic uint32) (id int, ok bool) {
	if numCPUs == trap.MaxCPUs {
		return 0, false
	}
	apicIDs[numCPUs] = apic
	numCPUs++
	return numCPUs - 1, true
}

// APIC returns the APIC id of CPU id.
func APIC(id int) uint32 { return apicIDs[id] }

// Num returns how many CPUs run.
//
//go:nosplit
func Num() int { return numCPUs }

// Drop forgets CPU id, which did not start: those after it move up.
//
// Context: boot, before the runtime.
func Drop(id int) {
	copy(apicIDs[id:numCPUs], apicIDs[id+1:numCPUs])
	numCPUs--
}

// SetNum forgets CPUs from index n on: they did not start.
//
// Context: boot, before the runtime.
func SetNum(n int) { numCPUs = n }

// ID returns the index of the CPU this runs on.
//
// Context: any; in a goroutine it is stale at once.
//
//go:nosplit
func ID() int { return int(trap.Self().ID) }

// EOI ends the interrupt in service.
//
// Context: interrupt.
func EOI() { lapicWrite(lapicEOI, 0) }

// SendIPI sends interrupt vector v to CPU id.
//
// Context: any.
//
//go:nosplit
func SendIPI(id int, v uint8) { sendICR(apicIDs[id], uint32(v)) }

// SendNMI interrupts CPU id even if it has interrupts off.
//
// Context: any.
//
//go:nosplit
func SendNMI(id int) { sendICR(apicIDs[id], lapic.ICR_DLV_NMI) }

// sending says which CPUs are within sendICR. Each CPU writes its own.
var sending [trap.MaxCPUs]bool

// sendICR writes the command register, its two halves undisturbed. An NMI or a probe's handler that sends
// an interrupt between another one's halves puts the first half back: the other one would go to the wrong
// CPU, which would answer a call in place of the right one.
//
//go:nosplit
func sendICR(apic, command uint32) {
	if x2apic {
		fence()
		msr.Write(amd64.X2Register(lapicICRL), amd64.X2Command(apic, command))
		return
	}
	flags := IRQOff()
	self := ID()
	within, first := sending[self], uint32(0)
	sending[self] = true
	awaitICR()
	if within {
		first = lapicRead(lapicICRH)
	}
	lapicWrite(lapicICRH, apic<<lapic.ID)
	lapicWrite(lapicICRL, command)
	if within {
		awaitICR()
		lapicWrite(lapicICRH, first)
	}
	sending[self] = within
	IRQRestore(flags)
}

// awaitICR returns when the command register can be written.
//
//go:nosplit
func awaitICR() {
	for lapicRead(lapicICRL)&(1<<lapic.ICR_DLV_STATUS) != 0 {
		Pause()
	}
}

// StartAP sends the INIT and start-up sequence to APIC id apic: it begins in
// real mode at page<<12.
//
// Context: boot, before the runtime.
func StartAP(apic uint32, page uint8) {
	sendICR(apic, 1<<lapic.ICR_INIT|lapic.ICR_DLV_INIT)
	Delay(200e3)
	StartAPAgain(apic, page)
}

// StartAPAgain sends the start-up IPI of StartAP once more.
//
// Context: boot, before the runtime.
// Source: Intel SDM vol. 3A, "MP Initialization Protocol Algorithm".
func StartAPAgain(apic uint32, page uint8) {
	sendICR(apic, 1<<lapic.ICR_INIT|lapic.ICR_DLV_SIPI|uint32(page))
}

// StopAP makes APIC id apic wait for a start-up sequence that does not come.
//
// Context: boot, before the runtime.
func StopAP(apic uint32) { sendICR(apic, 1<<lapic.ICR_INIT|lapic.ICR_DLV_INIT) }

// Delay spins for ns nanoseconds.
//
// Context: any.
func Delay(ns int64) {
	for end := Nanotime() + ns; Nanotime() < end; {
		Pause()
	}
}
