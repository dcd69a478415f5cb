//go:build tamago

package main

import (
	"sync/atomic"
	"unsafe"

	"sonde/arch/amd64/trap"
	"sonde/arch/amd64/user"
	"sonde/boot/cmdline"
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

// noLowPage is set if no page below 1 MiB was free for starting further CPUs.
var noLowPage bool

func apEntryAddr() uintptr
func textStart() uintptr

// findCPUs gives this CPU index 0 and the others in the MADT the next ones. Without ACPI, or with
// maxcpus=1, there is only one.
func findCPUs(self uint32) {
	cpu.AddCPU(self)
	m := &acpiInfo.MADT
	if max, _ := cmdline.Get(commandLine(), "maxcpus"); max == "1" {
		return
	}
	for i := 0; i < m.NCPU; i++ {
		if c := m.CPUs[i]; c.Enabled && c.APIC != self && c.APIC <= cpu.MaxAPIC() {
			if _, ok := cpu.AddCPU(c.APIC); !ok {
				spareAPs++
			}
		}
	}
}

// startCPUs starts the CPUs that findCPUs found, each up to its park. One that does not respond is
// left out.
func startCPUs() {
	page, ok := lowPage()
	if !ok {
		noLowPage = cpu.Num() > 1
		failedAPs = cpu.Num() - 1
		cpu.SetNum(1)
		return
	}
	writeTrampoline(page)
	for id := 1; id < cpu.Num(); {
		if startCPU(id, page) {
			id++
			continue
		}
		cpu.StopAP(cpu.APIC(id)) // it must not start while another one is awaited
		cpu.Drop(id)
		failedAPs++
	}
}

// lowPage is the page where further CPUs start: below 1 MiB, and no longer used by firmware.
func lowPage() (pa uint64, ok bool) {
	const usual = 0x8000
	for _, from := range [...]uint64{usual, pageSize} {
		if pa, ok = loader.Find(from, lowEnd, pageSize, pageSize, busy[:nBusy]); ok {
			return pa, true
		}
	}
	return 0, false
}

// startCPU starts the CPU with index id, which has 10 s to respond: a host may be busy.
func startCPU(id int, page uint64) bool {
	c := areas[id].CPU
	_, apStack = c.TrapStack()
	apStack -= 64
	apG = trap.BootG(id, c)
	apTLS = uintptr(unsafe.Pointer(&apTLSMem[id]))
	apID = id
	start := cpu.Nanotime()
	cpu.StartAP(cpu.APIC(id), uint8(page/pageSize))
	for again := false; apUp.Load() != int32(id); cpu.Pause() {
		switch waited := cpu.Nanotime() - start; {
		case waited > 10e9:
			return false
		case waited > 100e6 && !again: // old ones may miss the first, and ignore a second
			cpu.StartAPAgain(cpu.APIC(id), uint8(page/pageSize))
			again = true
		}
	}
	return true
}

// apMain is a further CPU's first Go code, on its trap stack with that stack's g.
func apMain() {
	id := apID
	user.Protect(cpu.CPUID)
	cpu.InitPAT()
	cpu.ForgetFirmware()
	apic := cpu.InitLAPIC(lapicBase())
	trap.Install(areas[id].CPU, uint32(id), apic)
	apUp.Store(int32(id))
	cpu.Park(id)
}

// writeTrampoline writes to page what further CPUs execute first, in real mode with
// CS = page>>4: load a flat GDT, enter protected mode, jump to apentry.
func writeTrampoline(page uint64) {
	const pm, gdtr, gdt = 0x20, 0x40, 0x48 // where the other parts are
	code := [...]byte{
		0xfa,       // cli
		0x8c, 0xc8, // mov ax, cs
		0x8e, 0xd8, // mov ds, ax
		0x66, 0x0f, 0x01, 0x16, gdtr, 0, // lgdtl [gdtr]
		0x0f, 0x20, 0xc0, // mov eax, cr0
		0x66, 0x83, 0xc8, 0x01, // or eax, 1
		0x0f, 0x22, 0xc0, // mov cr0, eax
		0x66, 0xea, 0, 0, 0, 0, 0x08, 0, // jmp 8:pm
	}
	protected := [...]byte{
		0xb8, 0x10, 0, 0, 0, // mov eax, 0x10
		0x8e, 0xd8, 0x8e, 0xc0, 0x8e, 0xd0, // mov ds, es, ss
		0xb8, 0, 0, 0, 0, // mov eax, apentry
		0xff, 0xe0, // jmp eax
	}
	table := [...]byte{23, 0, 0, 0, 0, 0} // limit, base
	for i := 0; i < 4; i++ {
		code[23+i] = byte((page + pm) >> (8 * i))
		protected[12+i] = byte(uint32(apEntryAddr()-kernelBase) >> (8 * i))
		table[2+i] = byte((page + gdt) >> (8 * i))
	}
	put(uintptr(page), code[:])
	put(uintptr(page+pm), protected[:])
	put(uintptr(page+gdtr), table[:])
	m := memory()
	m.Write64(page+gdt, 0)
	m.Write64(page+gdt+8, 0x00cf9b000000ffff)  // 32-bit code
	m.Write64(page+gdt+16, 0x00cf93000000ffff) // data
}

// put copies b to physical memory at pa.
func put(pa uintptr, b []byte) {
	for i, c := range b {
		*(*byte)(unsafe.Pointer(directBase + pa + uintptr(i))) = c // Safe because: low memory is mapped and unused
	}
}
