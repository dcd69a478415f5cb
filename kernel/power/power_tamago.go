//go:build tamago

// Package power ends the machine: off, reset, or out of QEMU with a code.
package power

import (
	"sonde/arch/amd64/phys"
	"sonde/internal/exitcode"
	"sonde/kernel/acpi"
	"sonde/kernel/cpu"
	"sonde/kernel/flight"
)

// info is what ACPI says about power; set once at boot.
var info *acpi.Info

// Init says where the power registers are.
//
// Context: boot, before the runtime.
func Init(a *acpi.Info) { info = a }

// restart is after how many seconds a crash starts the machine again; 0: never.
var restart int

// RestartAfter makes a crash start the machine again after so many seconds, as Linux's
// panic= does. 0: never, so that somebody can read the screen.
//
// Context: boot, before the runtime.
func RestartAfter(seconds int) { restart = seconds }

// Off turns the machine off. It does not return.
//
// Context: any.
func Off() {
	flight.Main.End(flight.Off)
	sleep()
	Exit(exitcode.ForScript(0))
}

// sleep turns the machine off as ACPI says. It returns where ACPI does not say how.
func sleep() {
	a := info
	if a == nil || !a.S5.Found {
		return
	}
	f := &a.FADT
	if f.SleepControl.Writable() {
		write(f.SleepControl, uint32(acpi.Sleep(a.S5.TypA)))
	}
	if !f.PM1a.IO() {
		return
	}
	enable(f)
	cpu.Out16(uint16(f.PM1a.Addr), acpi.PM1(cpu.In16(uint16(f.PM1a.Addr)), a.S5.TypA))
	if f.PM1b.IO() {
		cpu.Out16(uint16(f.PM1b.Addr), acpi.PM1(cpu.In16(uint16(f.PM1b.Addr)), a.S5.TypB))
	}
	cpu.Delay(1e9) // some take their time
}

// enable takes the power registers from the firmware, if it still has them.
//
// Source: ACPI Specification 6.5, "Transition to ACPI Mode".
func enable(f *acpi.FADT) {
	on := func() bool { return cpu.In16(uint16(f.PM1a.Addr))&acpi.PM1_SCI_EN != 0 }
	if f.SMICmd == 0 || f.ACPIEnable == 0 || on() {
		return
	}
	cpu.Out8(uint16(f.SMICmd), f.ACPIEnable)
	for end := cpu.Nanotime() + 1e9; !on() && cpu.Nanotime() < end; {
		cpu.Pause()
	}
}

// Reboot resets the machine. It does not return.
//
// Context: any.
func Reboot() {
	flight.Main.End(flight.Restart)
	if a := info; a != nil && a.FADT.Reset.Writable() {
		write(a.FADT.Reset, uint32(a.FADT.ResetValue))
	}
	cpu.Out8(0xcf9, 6)   // PIIX/ICH reset control
	cpu.Out8(0x64, 0xfe) // keyboard controller: pulse the reset line
	cpu.Delay(50e6)
	TripleFault()
}

// InQEMU reports whether QEMU's exit device is there.
func InQEMU() bool { return cpu.In8(exitcode.Port) == 0 }

// Exit leaves QEMU with value (package exitcode). Without QEMU's exit device it turns the
// machine off; but after a crash it halts for good, so that the screen shows why, or does
// what RestartAfter says.
//
// Context: any.
func Exit(value uint32) {
	crash := value == exitcode.Crash
	if crash {
		flight.Main.End(flight.Crash)
	} else {
		flight.Main.End(flight.Off)
	}
	if InQEMU() {
		cpu.Out32(exitcode.Port, value)
	}
	if !crash {
		sleep()
	}
	if hz, _ := cpu.TSC(); crash && restart > 0 && hz > 0 {
		cpu.Delay(int64(restart) * 1e9)
		Reboot()
	}
	cpu.HaltForever()
}

func write(r acpi.Register, v uint32) {
	if r.IO() {
		cpu.Out8(uint16(r.Addr), uint8(v))
		return
	}
	cpu.WriteMMIO8(phys.Direct(r.Addr), uint8(v))
}

// TripleFault makes the processor reset itself, by a trap without a usable IDT.
func TripleFault()
