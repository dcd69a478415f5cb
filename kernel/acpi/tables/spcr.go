package tables

import (
	"fmt"
	"syscall"

	"sonde/kernel/refusal"
)

// SPCR is the Serial Port Console Redirection table: the serial line that firmware uses.
type SPCR struct {
	Kind           uint8
	Space          uint8 // of the registers: 0 is memory, 1 ports
	Addr           uint64
	Width, Access  uint8 // bits of a register, and the size of an access as ACPI counts it
	IRQ            uint8 // 0: none
	GSI            uint32
	Baud           uint32 // 0: leave it as it is
	PCI            bool   // the port is a function of a PCI device
	Segment        uint8
	Vendor, Device uint16
	Bus            uint8
	Slot, Func     uint8
}

// bauds are what the table's numbers mean.
var bauds = map[byte]uint32{3: 9600, 4: 19200, 6: 57600, 7: 115200}

// SPCR reads the table.
//
// Errors: EINVAL t is another table, or too short.
// Source: Microsoft, "Serial Port Console Redirection Table (SPCR)".
func (t Table) SPCR() (s SPCR, err error) {
	const least = 80
	d := t.Data
	if t.Signature != "SPCR" || len(d) < least {
		return s, refusal.New(syscall.EINVAL, "acpi: %s of %d bytes is not an SPCR", t.Signature, len(d))
	}
	addr, _ := t.number(44, 8)
	s = SPCR{Kind: d[36], Space: d[40], Addr: addr, Width: d[41], Access: d[43], Baud: bauds[d[58]]}
	const pcAT, ioAPIC = 1, 2
	if d[52]&pcAT != 0 {
		s.IRQ = d[53]
	}
	if d[52]&ioAPIC != 0 {
		gsi, _ := t.number(54, 4)
		s.GSI = uint32(gsi)
	}
	device, _ := t.number(64, 2)
	vendor, _ := t.number(66, 2)
	const none = 0xffff
	if device != none && vendor != none {
		s.PCI, s.Device, s.Vendor, s.Bus, s.Slot, s.Func, s.Segment = true, uint16(device), uint16(vendor), d[68], d[69], d[70], d[75]
	}
	return s, nil
}

// KindName is what the interface is called.
//
// Source: Microsoft, "Debug Port Table 2 (DBG2)", "Debug port types and subtypes".
func (s SPCR) KindName() string {
	switch s.Kind {
	case 0:
		return "16550"
	case 1:
		return "16550 with the registers of a 16450"
	case 0x12:
		return "16550 as the table says"
	}
	return fmt.Sprintf("%#x, which is not a 16550", s.Kind)
}
