package inspect

import (
	"fmt"

	"sonde/kernel/pci"
)

// Capabilities by their number.
//
// Source: PCI Code and ID Assignment Specification 1.11, "Capability IDs".
const (
	capPower, capAGP, capVPD, capSlot, capMSI = 0x01, 0x02, 0x03, 0x04, pci.CapMSI
	capPCIX, capHyper, capVendor, capDebug    = 0x07, 0x08, 0x09, 0x0a
	capHotPlug, capSubsystem, capExpress      = 0x0c, 0x0d, 0x10
	capMSIX, capSATA, capAdvanced             = pci.CapMSIX, 0x12, 0x13
)

func (d *details) capabilities() {
	looped := d.EachCap(func(at int) bool {
		if id := d.U8(at); id == 0xff {
			d.line(1, "Capabilities: [%02x] <chain broken>", at)
			return false
		}
		d.line(1, "Capabilities: [%02x] %s", at, d.capability(at))
		if d.level > 1 {
			d.insideCap(at)
		}
		return true
	})
	if looped != 0 {
		d.line(1, "Capabilities: [%02x] <chain looped>", looped)
	}
}

// capability is the line of the capability at at.
func (d *details) capability(at int) string {
	v := d.U16(at + 2)
	switch id := d.U8(at); id {
	case capPower:
		return fmt.Sprintf("Power Management version %d", v&7)
	case capAGP:
		return fmt.Sprintf("AGP version %x.%x", v>>4&15, v&15)
	case capVPD:
		return "Vital Product Data"
	case capSlot:
		return fmt.Sprintf("Slot ID: %d slots, First%s, chassis %02x", v&31, sign(v, 5), v>>8)
	case capMSI:
		return fmt.Sprintf("MSI: Enable%s Count=%d/%d Maskable%s 64bit%s", sign(v, 0), 1<<(v>>4&7), 1<<(v>>1&7), sign(v, 8), sign(v, 7))
	case capPCIX:
		return "PCI-X " + only(!d.isBridge(), "non-") + "bridge device"
	case capHyper:
		return "HyperTransport"
	case capVendor:
		return d.vendorSpecific(at)
	case capDebug:
		return fmt.Sprintf("Debug port: BAR=%d offset=%04x", v>>13, v&0x1fff)
	case capHotPlug:
		return "Hot-plug capable"
	case capSubsystem:
		return "Subsystem: " + d.names.device(d.U16(at+4), d.U16(at+6))
	case capExpress:
		return d.express(v)
	case capMSIX:
		return fmt.Sprintf("MSI-X: Enable%s Count=%d Masked%s", sign(v, 15), v&0x7ff+1, sign(v, 14))
	case capSATA:
		text := fmt.Sprintf("SATA HBA v%d.%d", v>>4&15, v&15)
		if place := d.U32(at + 4); d.level > 1 && place&15 == 15 {
			text += " InCfgSpace"
		} else if d.level > 1 {
			text += fmt.Sprintf(" BAR%d Offset=%08x", int(place&15)-4, place>>4)
		}
		return text
	case capAdvanced:
		return "PCI Advanced Features"
	default:
		return fmt.Sprintf("Capability ID %#02x [%04x]", id, v)
	}
}

// virtio are the parts of a virtio device that a vendor's capability tells of.
//
// Source: Virtual I/O Device (VIRTIO) Version 1.2, "Virtio Structure PCI Capabilities".
const notify = 2

var virtio = [...]string{"<unknown>", "CommonCfg", "Notify", "ISR", "DeviceCfg"}

func (d *details) isVirtio() bool {
	return d.p.Vendor == 0x1af4 && d.p.Device >= 0x1000 && d.p.Device <= 0x107f
}

func (d *details) vendorSpecific(at int) string {
	if !d.isVirtio() {
		return fmt.Sprintf("Vendor Specific Information: Len=%02x <?>", d.U8(at+2))
	}
	part := int(d.U8(at + 3))
	if part >= len(virtio) {
		part = 0
	}
	return "Vendor Specific Information: VirtIO: " + virtio[part]
}

// insideCap is what -vv shows below the line of the capability at at.
func (d *details) insideCap(at int) {
	v := d.U16(at + 2)
	switch d.U8(at) {
	case capPower:
		d.line(2, "Flags: PMEClk%s DSI%s %s AuxCurrent=%dmA PME(%s)", sign(v, 3), sign(v, 5), bits(v, 9, "D1", "D2"),
			[...]int{0, 55, 100, 160, 220, 270, 320, 375}[v>>6&7], commas(bits(v, 11, "D0", "D1", "D2", "D3hot", "D3cold")))
		s := d.U16(at + 4)
		d.line(2, "Status: D%d NoSoftRst%s PME-Enable%s DSel=%d DScale=%d PME%s", s&3, sign(s, 3), sign(s, 8), s>>9&15, s>>13&3, sign(s, 15))
	case capMSI:
		d.msi(at, v)
	case capVendor:
		if d.isVirtio() {
			text := fmt.Sprintf("BAR=%d offset=%08x size=%08x", d.U8(at+4), d.U32(at+8), d.U32(at+12))
			if d.U8(at+3) == notify {
				text += fmt.Sprintf(" multiplier=%08x", d.U32(at+16))
			}
			d.line(2, "%s", text)
		}
	case capExpress:
		d.insideExpress(at, v>>4&15)
	case capMSIX:
		table, pending := d.U32(at+4), d.U32(at+8)
		d.line(2, "Vector table: BAR=%d offset=%08x", table&7, table&^7)
		d.line(2, "PBA: BAR=%d offset=%08x", pending&7, pending&^7)
	case capAdvanced:
		can := uint16(d.U8(at + 3))
		d.line(2, "AFCap: %s", bits(can, 0, "TP", "FLR"))
		d.line(2, "AFCtrl: FLR%s", sign(uint16(d.U8(at+4)), 0))
		d.line(2, "AFStatus: TP%s", sign(uint16(d.U8(at+5)), 0))
	}
}

// msi is where messages go. A wide address moves what is after it.
func (d *details) msi(at int, control uint16) {
	address, behind := fmt.Sprintf("%08x", d.U32(at+4)), at+8
	if control>>7&1 != 0 {
		address, behind = fmt.Sprintf("%08x%s", d.U32(at+8), address), at+12
	}
	d.line(2, "Address: %s  Data: %04x", address, d.U16(behind))
	if control>>8&1 != 0 {
		d.line(2, "Masking: %08x  Pending: %08x", d.U32(behind+4), d.U32(behind+8))
	}
}
