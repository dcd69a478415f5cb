package smbios

import (
	"fmt"
	"strings"
)

// Types of structures.
const (
	typeBIOS      = 0
	typeSystem    = 1
	typeBoard     = 2
	typeChassis   = 3
	typeProcessor = 4
	typeArray     = 16
	typeMemory    = 17
)

// fields are the strings that Linux shows below /sys/class/dmi/id, and where they are.
var fields = []struct {
	name string
	typ  uint8
	off  int
}{
	{"bios_vendor", typeBIOS, 0x04}, {"bios_version", typeBIOS, 0x05}, {"bios_date", typeBIOS, 0x08},
	{"sys_vendor", typeSystem, 0x04}, {"product_name", typeSystem, 0x05}, {"product_version", typeSystem, 0x06},
	{"product_serial", typeSystem, 0x07}, {"product_sku", typeSystem, 0x19}, {"product_family", typeSystem, 0x1a},
	{"board_vendor", typeBoard, 0x04}, {"board_name", typeBoard, 0x05}, {"board_version", typeBoard, 0x06},
	{"board_serial", typeBoard, 0x07}, {"board_asset_tag", typeBoard, 0x08},
	{"chassis_vendor", typeChassis, 0x04}, {"chassis_version", typeChassis, 0x06},
	{"chassis_serial", typeChassis, 0x07}, {"chassis_asset_tag", typeChassis, 0x08},
}

// ID returns what Linux has below /sys/class/dmi/id: the text of each file, without a newline.
// What firmware leaves out has no file.
func (t *Tables) ID() map[string]string {
	id := map[string]string{}
	for _, f := range fields {
		if s, ok := t.First(f.typ); ok {
			if n, ok := s.Number(f.off, 1); ok && n != 0 {
				id[f.name] = strings.TrimRight(s.Text(f.off), " ")
			}
		}
	}
	if s, ok := t.First(typeSystem); ok {
		if uuid := t.uuid(s); uuid != "" {
			id["product_uuid"] = uuid
		}
	}
	if s, ok := t.First(typeChassis); ok {
		if n, ok := s.Number(5, 1); ok {
			id["chassis_type"] = fmt.Sprint(n & 0x7f) // the highest bit is the lock's
		}
	}
	if s, ok := t.First(typeBIOS); ok {
		const none = 0xff
		if major, ok := s.Number(0x14, 1); ok && major != none {
			minor, _ := s.Number(0x15, 1)
			id["bios_release"] = fmt.Sprintf("%d.%d", major, minor)
		}
	}
	return id
}

// uuid is the machine's own number; "" if it has none. From 2.6 on, the first three parts
// are little-endian.
func (t *Tables) uuid(system Structure) string {
	const at, size = 8, 16
	if len(system.Data) < at+size {
		return ""
	}
	u := system.Data[at : at+size]
	if all := string(u); all == strings.Repeat("\x00", size) || all == strings.Repeat("\xff", size) {
		return ""
	}
	if t.Major > 2 || t.Major == 2 && t.Minor >= 6 {
		return fmt.Sprintf("%08x-%04x-%04x-%x-%x", le.Uint32(u), le.Uint16(u[4:]), le.Uint16(u[6:]), u[8:10], u[10:])
	}
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}

// Hardware is the machine's name as Linux logs it, "" if it is not known.
func (t *Tables) Hardware() string {
	id := t.ID()
	if id["sys_vendor"] == "" && id["product_name"] == "" {
		return ""
	}
	name := id["sys_vendor"] + " " + id["product_name"]
	if board := id["board_name"]; board != "" {
		name += "/" + board
	}
	return printable(name + ", BIOS " + id["bios_version"] + " " + id["bios_date"])
}

// printable shows what is no printable character of ASCII by its number.
func printable(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		if c < ' ' || c > '~' {
			fmt.Fprintf(&b, "\\x%02x", c)
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}
