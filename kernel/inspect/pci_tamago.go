//go:build tamago

package inspect

import "github.com/usbarmory/tamago/soc/intel/pci"

// Where a function says what it is.
const (
	classAt, headerAt = 0x08, 0x0c
	multiFunction     = 1 << 23
	buses, functions  = 256, 8
	nothing           = 0xffff
)

// Devices returns what is on all PCI buses, in order.
//
// Context: goroutine.
// Source: PCI Local Bus Specification 3.0, "Configuration Space".
func Devices() (all []PCI) {
	for bus := range buses {
		for _, d := range pci.Devices(bus) {
			for fn := range uint32(functions) {
				id := d.Read(fn, pci.VendorID)
				if uint16(id) == nothing {
					continue
				}
				class := d.Read(fn, classAt)
				all = append(all, PCI{
					Bus: uint8(bus), Slot: uint8(d.Slot), Func: uint8(fn),
					Vendor: uint16(id), Device: uint16(id >> 16), Class: uint16(class >> 16), Revision: uint8(class),
				})
				if fn == 0 && d.Read(0, headerAt)&multiFunction == 0 {
					break
				}
			}
		}
	}
	return all
}
