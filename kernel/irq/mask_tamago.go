//go:build tamago

package irq

import "sonde/kernel/acpi"

// MaskAll silences all interrupts of devices: firmware and loaders may have left some on,
// to vectors that are others' here.
//
// Context: boot, before the runtime.
// Source: 82093AA (IOAPIC) data sheet, "I/O Redirection Table Registers".
func MaskAll(m *acpi.MADT) {
	if m.NIOAPIC == 0 {
		ioapicAt(usualIOAPIC, 0).maskAll()
	}
	for i := 0; i < m.NIOAPIC; i++ {
		ioapicAt(m.IOAPICs[i].Addr, 0).maskAll()
	}
}

func (io ioapic) maskAll() {
	for n := range io.lines() {
		io.write(ioRoute+2*n, masked)
	}
}
