// Package pci finds the functions of PCI devices, reads what they say of themselves, and hands them to a driver: it
// turns them on, maps their registers, and makes them interrupt by messages.
//
// A function has 256 bytes of configuration space, which two ports reach. Firmware has numbered the buses and placed
// the ranges of addresses (base address registers, BARs) already; nothing here moves them.
//
// Source: PCI Local Bus Specification 3.0, "Configuration Space".
package pci

import "fmt"

// Function is a function of a PCI device, and what it says of itself.
type Function struct {
	Bus, Slot, Func uint8
	Vendor, Device  uint16
	Class           uint16 // class and subclass
	Revision        uint8
	Interface       uint8 // what of its subclass it is
	Secondary       uint8 // the bus behind a bridge; 0: none
	Regions         []Region
}

// Address is the function's place as Linux writes it.
func (f Function) Address() string { return fmt.Sprintf("0000:%02x:%02x.%d", f.Bus, f.Slot, f.Func) }

// place is where the function's configuration space is.
func (f Function) place() Place { return Place(f.Bus)<<8 | Place(f.Slot)<<3 | Place(f.Func) }

// A Place is the number of a bus, a slot there and a function in it.
type Place uint32

// places is how many there are.
const places Place = Buses * Slots * Functions

// describe decodes a function's header.
func describe(at Place, h *Header) Function {
	class := h.Words[classWord]
	f := Function{
		Bus: uint8(at >> 8), Slot: uint8(at >> 3 & (Slots - 1)), Func: uint8(at & (Functions - 1)),
		Vendor: uint16(h.Words[0]), Device: uint16(h.Words[0] >> 16),
		Class: uint16(class >> 16), Interface: uint8(class >> 8), Revision: uint8(class),
		Regions: h.Regions(),
	}
	if h.isBridge() {
		f.Secondary = uint8(h.Words[busesWord] >> 8)
	}
	return f
}
