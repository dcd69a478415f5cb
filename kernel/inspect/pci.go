package inspect

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// PCI is a function of a PCI device, and what it says of itself.
type PCI struct {
	Bus, Slot, Func uint8
	Vendor, Device  uint16
	Class           uint16 // class and subclass
	Revision        uint8
	Interface       uint8 // what of its subclass it is
	Pin, IRQ        uint8 // 1 is INTA; where firmware has routed it among the legacy interrupts
	Secondary       uint8 // the bus behind a bridge; 0: none
	Regions         []Region
}

// Names are what devices are called in Debian's pci.ids; nil knows none.
type Names struct{ vendors, devices map[uint32]string }

// ReadNames reads a file in the format of pci.ids: vendors at the beginning of a line,
// their devices behind a tab.
//
// Errors: those of reading.
func ReadNames(r io.Reader) (*Names, error) {
	n := &Names{map[uint32]string{}, map[uint32]string{}}
	lines := bufio.NewScanner(r)
	vendor := uint32(0)
	for lines.Scan() {
		line := lines.Text()
		if strings.HasPrefix(line, "C ") {
			break // the classes are next
		}
		text := strings.TrimLeft(line, "\t")
		id, name, ok := strings.Cut(text, "  ")
		number, err := strconv.ParseUint(id, 16, 16)
		if !ok || err != nil {
			continue // a comment
		}
		switch len(line) - len(text) {
		case 0:
			vendor = uint32(number)
			n.vendors[vendor] = name
		case 1:
			n.devices[vendor<<16|uint32(number)] = name
		}
	}
	return n, lines.Err()
}

// Format renders p as lspci -nn does.
func (n *Names) Format(p PCI) string {
	vendor, device := fmt.Sprintf("Vendor %04x", p.Vendor), fmt.Sprintf("Device %04x", p.Device)
	if n != nil {
		if name := n.vendors[uint32(p.Vendor)]; name != "" {
			vendor = name
		}
		if name := n.devices[uint32(p.Vendor)<<16|uint32(p.Device)]; name != "" {
			device = name
		}
	}
	text := fmt.Sprintf("%02x:%02x.%d %s [%04x]: %s %s [%04x:%04x]", p.Bus, p.Slot, p.Func, className(p.Class), p.Class, vendor, device, p.Vendor, p.Device)
	if p.Revision != 0 {
		text += fmt.Sprintf(" (rev %02x)", p.Revision)
	}
	return text
}

// className is what the devices are called that boards have most.
//
// Source: PCI Code and ID Assignment Specification; the words are those of pci.ids.
func className(class uint16) string {
	switch class {
	case 0x0100:
		return "SCSI storage controller"
	case 0x0101:
		return "IDE interface"
	case 0x0106:
		return "SATA controller"
	case 0x0108:
		return "Non-Volatile memory controller"
	case 0x0200:
		return "Ethernet controller"
	case 0x0280:
		return "Network controller"
	case 0x0300:
		return "VGA compatible controller"
	case 0x0403:
		return "Audio device"
	case 0x0500:
		return "RAM memory"
	case 0x0600:
		return "Host bridge"
	case 0x0601:
		return "ISA bridge"
	case 0x0604:
		return "PCI bridge"
	case 0x0680:
		return "Bridge"
	case 0x0700:
		return "Serial controller"
	case 0x0c03:
		return "USB controller"
	case 0x0c05:
		return "SMBus"
	}
	return "Class"
}
