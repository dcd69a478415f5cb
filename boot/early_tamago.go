//go:build tamago

package main

import (
	_ "unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/phys"
	"sonde/arch/amd64/trap"
	"sonde/arch/amd64/user"
	"sonde/boot/cmdline"
	"sonde/boot/handoff"
	"sonde/boot/multiboot2"
	"sonde/boot/pvh"
	"sonde/internal/exitcode"
	"sonde/kernel/acpi"
	"sonde/kernel/console"
	"sonde/kernel/cpu"
	"sonde/kernel/die"
	"sonde/kernel/flight"
	"sonde/kernel/irq"
	"sonde/kernel/power"
	"sonde/kernel/printk"
	"sonde/kernel/screen"
	"sonde/kernel/smp"
)

// Data about the machine; kept for /proc and the drivers. Written once at boot.
var (
	loader     handoff.Info
	acpiInfo   acpi.Info
	cmdlineBuf [handoff.MaxCmdline]byte
	cmdlineLen int
	failedAPs  int // did not start
	spareAPs   int // exceed the maximum
)

// Functions for the log; variables, because closures would need a heap.
var (
	logClock   = cpu.Nanotime
	logCPU     = cpu.ID
	logConsole = console.Write
)

// early initializes the machine so that the Go runtime can start: memory, traps, clock, all other
// CPUs parked. It is called once, on the boot stack, with the address of the loader's information.
//
// Context: before the runtime: no allocation, no maps, no goroutines, package variables hold only
// what the linker could put there.
func early(info uintptr) {
	firstConsole()
	user.Protect(cpu.CPUID)
	cpu.InitPAT()
	cpu.ForgetFirmware()
	showStages = info&viaMultiboot != 0
	stage(stageEntered)
	mem := memory()
	readLoader(mem, uint64(info))
	readCmdline(mem)
	startScreen()
	if n := loader.RAM(); n < leastRAM {
		fatal("too little memory: 96 MiB are needed; bytes found", n)
	}
	findImage()
	startRecorder()
	stage(stageLoader)
	if v, _ := cmdline.Get(commandLine(), "acpi"); v != "off" {
		acpi.Parse(mem, loader.RSDP, &acpiInfo) // some machines have none
	}
	chooseConsoles()
	stage(stageACPI)
	lapic := lapicBase()
	apic := cpu.InitLAPIC(lapic)
	findCPUs(apic)
	stage(stageLAPIC)
	buildMemory(&loader, lapic)
	stage(stageMemory)
	power.Init(&acpiInfo)
	readPanic()
	die.Install()
	irq.Install()
	smp.Install()
	trap.Install(areas[0].CPU, 0, apic)
	screen.KnowCPUs()
	printk.Boot(&logClock, &logCPU, &logConsole)
	stage(stageTraps)
	maskPIC()
	irq.MaskAll(&acpiInfo.MADT)
	startClock()
	stage(stageClock)
	startCPUs()
	stage(stageCPUs)
	cpu.Serve(die.Exit)
}

//go:linkname putc runtime/goos.Printk
//go:nosplit
func putc(c byte) {
	console.Putc(c)
	flight.Main.Put(c)
	die.Say(c)
}

// commandLine is the command line from the loader.
func commandLine() string {
	return phys.Over(cmdlineBuf[:]).String(0, uint64(cmdlineLen)) // it does not change any more
}

// readLoader fills in loader. None of the memory that it describes has been overwritten yet.
func readLoader(mem phys.Mem, info uint64) {
	if info&viaMultiboot != 0 {
		if c := multiboot2.Parse(mem, info-viaMultiboot, &loader); c != multiboot2.OK {
			fatal(string(c), info)
		}
		return
	}
	if c := pvh.Parse(mem, info, &loader); c != pvh.OK {
		fatal(string(c), info)
	}
}

func readCmdline(mem phys.Mem) {
	s := mem.String(loader.Cmdline.PA, loader.Cmdline.Len)
	cmdlineLen = copy(cmdlineBuf[:], s)
}

func lapicBase() uint64 {
	if acpiInfo.MADT.Found && acpiInfo.MADT.LAPIC != 0 {
		return acpiInfo.MADT.LAPIC
	}
	return 0xfee00000
}

// startClock measures the clock, against the timer that clock= names if that works.
func startClock() {
	want, _ := cmdline.Get(commandLine(), "clock")
	if cpu.Calibrate(&acpiInfo, want) || want != "" && cpu.Calibrate(&acpiInfo, "") {
		return
	}
	fatal("nothing tells the time: neither ACPI PM timer, PIT or HPET, nor the processor itself", 0)
}

// maskPIC masks the two legacy interrupt controllers: interrupts come by the IOAPIC. Their vectors
// are moved off the exceptions first, in case an interrupt is pending.
func maskPIC() {
	for _, w := range [...][2]uint16{
		{0x20, 0x11}, {0x21, amd64.VecLegacy}, {0x21, 4}, {0x21, 1},
		{0xa0, 0x11}, {0xa1, amd64.VecLegacy + 8}, {0xa1, 2}, {0xa1, 1},
		{0x21, 0xff}, {0xa1, 0xff},
	} {
		cpu.Out8(w[0], uint8(w[1]))
	}
}

// fatal ends a boot before traps can be handled.
func fatal(why string, value uint64) {
	say("sonde: boot failed: ")
	say(why)
	say(" (0x")
	for i := 60; i >= 0; i -= 4 {
		putc("0123456789abcdef"[value>>i&15])
	}
	say(")\n")
	console.WriteString("") // shows what putc has buffered
	power.Exit(exitcode.Crash)
}

// earlyException handles an exception at ip before traps can be handled. Otherwise it would reset the
// machine silently.
func earlyException(ip uintptr) { fatal("an exception before there are traps, at", uint64(ip)) }

// say prints before the log exists.
func say(text string) {
	for i := range len(text) {
		putc(text[i])
	}
}

// readPanic reads panic=SECONDS from the command line: the time after which a crashed machine
// restarts.
func readPanic() {
	v, _ := cmdline.Get(commandLine(), "panic")
	seconds := 0
	for i := range len(v) {
		if v[i] < '0' || v[i] > '9' || seconds > 1<<20 {
			return
		}
		seconds = 10*seconds + int(v[i]-'0')
	}
	power.RestartAfter(seconds)
}
