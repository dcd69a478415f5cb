//go:build tamago

package main

import (
	"sync/atomic"
	"unsafe"

	"sonde/arch/amd64/phys"
	"sonde/arch/amd64/trap"
	"sonde/arch/amd64/user"
	"sonde/kernel/cpu"
)

// Further CPUs start one at a time: the variables below are the next one's.
var (
	apStack  uintptr
	apG      uintptr
	apTLS    uintptr
	apID     int
	apTLSMem [trap.MaxCPUs][2]uintptr
	apUp     atomic.Int32
)

func apEntryAddr() uintptr
func textStart() uintptr

// findCPUs gives this CPU index 0 and the others the MADT lists the next ones.
// Without ACPI the machine is taken to have one.
func findCPUs(self uint32) {
	cpu.AddCPU(self)
	m := &acpiInfo.MADT
	for i := 0; i < m.NCPU; i++ {
		if c := m.CPUs[i]; c.Enabled && c.APIC != self && c.APIC < 255 {
			if _, ok := cpu.AddCPU(c.APIC); !ok {
				spareAPs++
			}
		}
	}
}

// startCPUs starts the CPUs that findCPUs found, each up to its park; one that
// does not come ends the list. It has 10 s for that: a host may be busy.
func startCPUs() {
	writeTrampoline()
	n := cpu.Num()
	for id := 1; id < n; id++ {
		c := areas[id].CPU
		_, apStack = c.TrapStack()
		apStack -= 64
		apG = trap.BootG(id, c)
		apTLS = uintptr(unsafe.Pointer(&apTLSMem[id]))
		apID = id
		cpu.StartAP(cpu.APIC(id), trampoline>>12)
		for end := cpu.Nanotime() + 10e9; apUp.Load() != int32(id); {
			if cpu.Nanotime() > end {
				failedAPs += n - id
				cpu.SetNum(id)
				return
			}
			cpu.Pause()
		}
	}
}

// apMain is a further CPU's first Go code, on its trap stack with that stack's g.
func apMain() {
	id := apID
	user.Protect(cpu.CPUID)
	apic := cpu.InitLAPIC(lapicBase())
	trap.Install(areas[id].CPU, uint32(id), apic)
	apUp.Store(int32(id))
	cpu.Park(id)
}

// writeTrampoline writes what further CPUs execute first, in real mode with
// CS = trampoline>>4: load a flat GDT, enter protected mode, jump to apentry.
func writeTrampoline() {
	code := [...]byte{
		0xfa,       // cli
		0x31, 0xc0, // xor ax, ax
		0x8e, 0xd8, // mov ds, ax
		0x66, 0x0f, 0x01, 0x16, 0x40, 0x80, // lgdtl [0x8040]
		0x0f, 0x20, 0xc0, // mov eax, cr0
		0x66, 0x83, 0xc8, 0x01, // or eax, 1
		0x0f, 0x22, 0xc0, // mov cr0, eax
		0x66, 0xea, 0x20, 0x80, 0, 0, 0x08, 0, // jmp 8:0x8020
	}
	pm := [...]byte{ // at 0x8020, 32-bit
		0xb8, 0x10, 0, 0, 0, // mov eax, 0x10
		0x8e, 0xd8, 0x8e, 0xc0, 0x8e, 0xd0, // mov ds, es, ss
		0xb8, 0, 0, 0, 0, // mov eax, apentry
		0xff, 0xe0, // jmp eax
	}
	entry := uint32(apEntryAddr())
	for i := 0; i < 4; i++ {
		pm[12+i] = byte(entry >> (8 * i))
	}
	put(trampoline, code[:])
	put(trampoline+0x20, pm[:])
	put(trampoline+0x40, []byte{23, 0, 0x48, 0x80, 0, 0}) // limit, base 0x8048
	m := phys.Identity(bootMapped)
	m.Write64(trampoline+0x48, 0)
	m.Write64(trampoline+0x50, 0x00cf9b000000ffff) // 32-bit code
	m.Write64(trampoline+0x58, 0x00cf93000000ffff) // data
}

// put copies b to physical memory at pa.
func put(pa uintptr, b []byte) {
	for i, c := range b {
		*(*byte)(unsafe.Pointer(pa + uintptr(i))) = c // Safe because: low memory is mapped and nobody's
	}
}
