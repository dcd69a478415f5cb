//go:build tamago

package irq

import (
	"unsafe"

	"sonde/kernel/acpi"

	"github.com/usbarmory/tamago/soc/intel/ioapic"
)

const (
	usualIOAPIC = 0xfec00000 // where it is if ACPI does not say
	masked      = 1 << 16
	versionReg  = 1
)

// MaskAll silences all interrupts of devices: firmware and loaders may have left some on,
// to vectors that are others' here.
//
// Context: boot, before the runtime.
// Source: 82093AA (IOAPIC) data sheet, "I/O Redirection Table Registers".
func MaskAll(m *acpi.MADT) {
	if m.NIOAPIC == 0 {
		maskAll(usualIOAPIC)
	}
	for i := 0; i < m.NIOAPIC; i++ {
		maskAll(uintptr(m.IOAPICs[i].Addr))
	}
}

func maskAll(base uintptr) {
	// Safe because: the registers are mapped, uncached, for good.
	choose := (*uint32)(unsafe.Pointer(base + ioapic.IOREGSEL))
	window := (*uint32)(unsafe.Pointer(base + ioapic.IOWIN))
	*choose = versionReg
	version := *window
	if version == ^uint32(0) {
		return // there is none
	}
	for n := uint32(0); n <= version>>16&0xff; n++ {
		*choose = ioapic.IOAPICREDTBLn + 2*n
		*window = masked
	}
}
