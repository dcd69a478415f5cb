package smbios

import (
	"fmt"
	"io"
	"strings"
)

// part is what is printed of one type of structure: its title and its fields.
type part struct {
	title  string
	fields []field
}

// field is a line. show returns "" for what the structure is too short for.
type field struct {
	name string
	show func(t *Tables, s Structure) string
}

// text shows the string whose number is at off.
func text(name string, off int) field {
	return field{name, func(_ *Tables, s Structure) string {
		if n, ok := s.Number(off, 1); !ok {
			return ""
		} else if n == 0 {
			return "Not Specified"
		}
		return printable(strings.TrimRight(s.Text(off), " "))
	}}
}

// number shows the number of size bytes at off, as format has it.
func number(name string, off, size int, format string) field {
	return field{name, func(_ *Tables, s Structure) string {
		if n, ok := s.Number(off, size); ok {
			return fmt.Sprintf(format, n)
		}
		return ""
	}}
}

// kind shows which of names the byte at off is.
func kind(name string, off int, names []string) field {
	return field{name, func(_ *Tables, s Structure) string {
		n, ok := s.Number(off, 1)
		n &= 0x7f
		switch {
		case !ok:
			return ""
		case n < uint64(len(names)) && names[n] != "":
			return names[n]
		}
		return fmt.Sprintf("Type %d", n)
	}}
}

// What the numbers mean that boards have most.
var (
	chassisTypes = []string{1: "Other", 2: "Unknown", 3: "Desktop", 4: "Low Profile Desktop", 5: "Pizza Box", 6: "Mini Tower",
		7: "Tower", 8: "Portable", 9: "Laptop", 10: "Notebook", 13: "All In One", 17: "Main Server Chassis", 23: "Rack Mount Chassis",
		30: "Tablet", 31: "Convertible", 32: "Detachable", 35: "Mini PC", 36: "Stick PC"}
	memoryTypes = []string{1: "Other", 2: "Unknown", 7: "RAM", 15: "SDRAM", 18: "DDR", 19: "DDR2", 24: "DDR3", 26: "DDR4",
		27: "LPDDR", 28: "LPDDR2", 29: "LPDDR3", 30: "LPDDR4", 34: "DDR5", 35: "LPDDR5"}
)

// parts are the structures that are shown in words, with the names of dmidecode.
var parts = map[uint8]part{
	typeBIOS: {"BIOS Information", []field{
		text("Vendor", 4), text("Version", 5), text("Release Date", 8),
		{"BIOS Revision", func(t *Tables, _ Structure) string { return t.ID()["bios_release"] }},
	}},
	typeSystem: {"System Information", []field{
		text("Manufacturer", 4), text("Product Name", 5), text("Version", 6), text("Serial Number", 7),
		{"UUID", func(t *Tables, s Structure) string { return t.uuid(s) }},
		text("SKU Number", 0x19), text("Family", 0x1a),
	}},
	typeBoard: {"Base Board Information", []field{
		text("Manufacturer", 4), text("Product Name", 5), text("Version", 6), text("Serial Number", 7), text("Asset Tag", 8),
	}},
	typeChassis: {"Chassis Information", []field{
		text("Manufacturer", 4), kind("Type", 5, chassisTypes), text("Version", 6), text("Serial Number", 7), text("Asset Tag", 8),
	}},
	typeProcessor: {"Processor Information", []field{
		text("Socket Designation", 4), text("Manufacturer", 7), text("Version", 0x10), number("Max Speed", 0x14, 2, "%d MHz"),
		number("Current Speed", 0x16, 2, "%d MHz"), number("Core Count", 0x23, 1, "%d"), number("Thread Count", 0x25, 1, "%d"),
	}},
	typeArray: {"Physical Memory Array", []field{
		{"Maximum Capacity", func(_ *Tables, s Structure) string {
			kib, ok := s.Number(7, 4)
			const elsewhere = 0x8000_0000
			if ok && kib == elsewhere {
				n, ok := s.Number(15, 8)
				return amount(n, ok)
			}
			return amount(kib<<10, ok)
		}},
		number("Number Of Devices", 13, 2, "%d"),
	}},
	typeMemory: {"Memory Device", []field{
		{"Size", func(_ *Tables, s Structure) string { return memorySize(s) }},
		text("Locator", 0x10), text("Bank Locator", 0x11), kind("Type", 0x12, memoryTypes), number("Speed", 0x15, 2, "%d MT/s"),
		text("Manufacturer", 0x17), text("Serial Number", 0x18), text("Part Number", 0x1a),
	}},
}

// memorySize is how large a memory module is.
//
// Source: DSP0134, "Memory Device (Type 17)", "Size" and "Extended Size".
func memorySize(s Structure) string {
	const none, unknown, extended, inKiB = 0, 0xffff, 0x7fff, 0x8000
	n, ok := s.Number(12, 2)
	switch {
	case !ok:
		return ""
	case n == none:
		return "No Module Installed"
	case n == unknown:
		return "Unknown"
	case n == extended:
		n, ok = s.Number(28, 4)
		return amount(n&0x7fff_ffff<<20, ok)
	case n&inKiB != 0:
		return amount(n&^inKiB<<10, true)
	}
	return amount(n<<20, true)
}

// amount is a number of bytes in the largest unit that leaves no rest.
func amount(n uint64, ok bool) string {
	if !ok {
		return ""
	}
	unit := 0
	for n >= 1024 && n%1024 == 0 {
		n, unit = n/1024, unit+1
	}
	return fmt.Sprintf("%d %s", n, [...]string{"bytes", "kB", "MB", "GB", "TB", "PB", "EB"}[unit])
}

// Print prints the structures of a type, or of all types if typ is negative, as dmidecode
// does, those whose fields have no names here without fields.
func (t *Tables) Print(w io.Writer, typ int) error {
	var b strings.Builder
	fmt.Fprintf(&b, "SMBIOS %d.%d present.\n%d structures occupying %d bytes.\nTable at 0x%08X.\n\n", t.Major, t.Minor, len(t.All), len(t.Raw), t.Addr)
	for _, s := range t.All {
		if typ >= 0 && int(s.Type) != typ {
			continue
		}
		p := parts[s.Type]
		if p.title == "" {
			p.title = fmt.Sprintf("Structure of type %d", s.Type)
		}
		fmt.Fprintf(&b, "Handle 0x%04X, DMI type %d, %d bytes\n%s\n", s.Handle, s.Type, len(s.Data), p.title)
		for _, f := range p.fields {
			if v := f.show(t, s); v != "" {
				fmt.Fprintf(&b, "\t%s: %s\n", f.name, v)
			}
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// keywords are what dmidecode -s calls the files of ID.
var keywords = map[string]string{
	"bios-vendor": "bios_vendor", "bios-version": "bios_version", "bios-release-date": "bios_date", "bios-revision": "bios_release",
	"system-manufacturer": "sys_vendor", "system-product-name": "product_name", "system-version": "product_version",
	"system-serial-number": "product_serial", "system-uuid": "product_uuid", "system-sku-number": "product_sku", "system-family": "product_family",
	"baseboard-manufacturer": "board_vendor", "baseboard-product-name": "board_name", "baseboard-version": "board_version",
	"baseboard-serial-number": "board_serial", "baseboard-asset-tag": "board_asset_tag",
	"chassis-manufacturer": "chassis_vendor", "chassis-version": "chassis_version", "chassis-type": "chassis_type",
	"chassis-serial-number": "chassis_serial", "chassis-asset-tag": "chassis_asset_tag",
}

// Keyword returns what dmidecode -s prints for a word; not known if there is no such word.
func (t *Tables) Keyword(word string) (value string, known bool) {
	name, known := keywords[word]
	if value = t.ID()[name]; value == "" {
		value = "Not Specified"
	}
	return printable(value), known
}
