package inspect

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"sonde/kernel/pci"
)

// Names are what makers and devices are called. Vendors and devices come from a pci.ids; the zero
// value knows only those makers that the kernel itself knows.
type Names struct {
	Numbers          int // 0: names only; 1: numbers only; 2: both, as lspci -n and -nn show them
	vendors, devices map[uint32]string
}

// ReadNames reads a file in the format of pci.ids: vendors at the beginning of a line,
// their devices after a tab.
//
// Errors: those of reading.
func ReadNames(r io.Reader) (*Names, error) {
	n := &Names{vendors: map[uint32]string{}, devices: map[uint32]string{}}
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

// Format renders p as a line of lspci.
func (n *Names) Format(p pci.Function) string {
	text := fmt.Sprintf("%02x:%02x.%d %s: %s", p.Bus, p.Slot, p.Func, n.class(p.Class), n.device(p.Vendor, p.Device))
	if p.Revision != 0 {
		text += fmt.Sprintf(" (rev %02x)", p.Revision)
	}
	return text
}

// class is what a class of functions is called.
func (n *Names) class(class uint16) string {
	base, sub, _ := classNames(class, 0)
	number := fmt.Sprintf("%04x", class)
	switch {
	case n.Numbers == 1:
		return number
	case sub != "" && n.Numbers == 0:
		return sub
	case sub != "":
		return sub + " [" + number + "]"
	case base != "":
		return base + " [" + number + "]"
	case n.Numbers == 0:
		return "Class " + number
	}
	return "Class [" + number + "]"
}

// device is what a device is called, with its maker.
func (n *Names) device(vendor, device uint16) string {
	numbers := fmt.Sprintf("%04x:%04x", vendor, device)
	if n.Numbers == 1 {
		return numbers
	}
	name, maker := n.devices[uint32(vendor)<<16|uint32(device)], n.vendors[uint32(vendor)]
	if maker == "" {
		maker = vendorName(vendor)
	}
	if n.Numbers == 2 {
		numbers = "[" + numbers + "]"
	}
	switch {
	case maker == "":
		return "Device " + numbers
	case name == "" && n.Numbers == 0:
		return fmt.Sprintf("%s Device %04x", maker, device)
	case name == "":
		name = "Device"
	}
	if n.Numbers == 0 {
		return maker + " " + name
	}
	return maker + " " + name + " " + numbers
}

// Interface is what lspci -v writes after a line: what of its class the function is.
func (*Names) Interface(p pci.Function) string {
	_, _, prog := classNames(p.Class, p.Interface)
	switch {
	case prog == "" && p.Interface == 0:
		return ""
	case prog == "":
		return fmt.Sprintf(" (prog-if %02x)", p.Interface)
	}
	return fmt.Sprintf(" (prog-if %02x [%s])", p.Interface, prog)
}
