//go:build tamago

package irq

import (
	"syscall"

	"sonde/kernel/acpi"
	"sonde/kernel/cpu"
	"sonde/kernel/refusal"
)

// The old timer (PIT, channel 0) as a clock that cannot be turned off: its line of the
// I/O APIC delivers NMIs, to CPU 0.
//
// Source: Intel 8254 data sheet, mode 2; 82093AA (IOAPIC) data sheet, "I/O
// Redirection Table Registers".
const (
	pitIRQ     = 0
	pitUsual   = 2 // where it arrives, even if ACPI does not say so (QEMU's microvm); nothing else does
	pitCommand = 0x43
	pitChannel = 0x40
	pitRate    = 0x34 // channel 0, low byte then high byte, mode 2

	deliverNMI = 4 << 8
)

// NMIPeriod is how often the NMI of StartNMI comes, in nanoseconds: the counter has
// 16 bits and is as slow as it gets.
const NMIPeriod = 65536 * 1_000_000_000 / 1193182

// nmiLines is what AllowNMI was told; nil: not allowed.
var nmiLines *acpi.MADT

// AllowNMI lets StartNMI use the lines that m describes.
//
// Context: goroutine, at boot.
func AllowNMI(m *acpi.MADT) { nmiLines = m }

// StartNMI has CPU 0 take an NMI every NMIPeriod from now on.
//
// Context: goroutine; once.
// Errors: ENODEV it is not allowed, or no IOAPIC serves the timer.
func StartNMI() error {
	if nmiLines == nil {
		return refusal.New(syscall.ENODEV, "irq: start NMI: not allowed")
	}
	routed := false
	for _, gsi := range []uint32{nmiLines.GSI(pitIRQ), pitUsual} {
		if io, ok := find(nmiLines, gsi); ok {
			io.route(gsi-io.first, cpu.APIC(0), deliverNMI)
			routed = true
		}
	}
	if !routed {
		return refusal.New(syscall.ENODEV, "irq: start NMI: no IOAPIC serves the timer")
	}
	cpu.Out8(pitCommand, pitRate)
	cpu.Out8(pitChannel, 0)
	cpu.Out8(pitChannel, 0)
	return nil
}
