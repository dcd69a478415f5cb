//go:build tamago

package irq

import (
	"sonde/arch/amd64/phys"
	"sonde/kernel/acpi"
	"sonde/kernel/cpu"
)

// Registers of an I/O APIC: two in memory, by which the others are reached.
//
// Source: 82093AA (IOAPIC) data sheet, "Register Description".
const (
	ioSelect  = 0x00
	ioWindow  = 0x10
	ioVersion = 1
	ioRoute   = 0x10 // of line n: 0x10 + 2*n, with the destination in the next one

	activeLow = 1 << 13 // of a route
	byLevel   = 1 << 15
	masked    = 1 << 16

	usualIOAPIC = 0xfec00000
)

// An ioapic is one I/O APIC.
type ioapic struct {
	base  uintptr // of its registers
	first uint32  // global number of its first line
}

func ioapicAt(pa, first uint32) ioapic { return ioapic{phys.Direct(uint64(pa)), first} }

func (io ioapic) read(reg uint32) uint32 {
	cpu.WriteMMIO32(io.base+ioSelect, reg)
	return cpu.ReadMMIO32(io.base + ioWindow)
}

func (io ioapic) write(reg, v uint32) {
	cpu.WriteMMIO32(io.base+ioSelect, reg)
	cpu.WriteMMIO32(io.base+ioWindow, v)
}

// lines is how many lines io has, 0 if there is none such.
func (io ioapic) lines() uint32 {
	v := io.read(ioVersion)
	if v == ^uint32(0) {
		return 0
	}
	return v>>16&0xff + 1
}

// route makes line n of io send how, a vector or a way of delivery, to the CPU with that APIC id.
func (io ioapic) route(n, id, how uint32) {
	io.write(ioRoute+2*n+1, id<<24)
	io.write(ioRoute+2*n, how)
}

// find returns the I/O APIC that serves gsi; without ACPI the usual one.
func find(m *acpi.MADT, gsi uint32) (io ioapic, ok bool) {
	if m.NIOAPIC == 0 {
		return ioapicAt(usualIOAPIC, 0), gsi < 24
	}
	for i := 0; i < m.NIOAPIC; i++ {
		io = ioapicAt(m.IOAPICs[i].Addr, m.IOAPICs[i].GSIBase)
		if gsi >= io.first && gsi < io.first+io.lines() {
			return io, true
		}
	}
	return ioapic{}, false
}
