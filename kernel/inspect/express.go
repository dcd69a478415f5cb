package inspect

import (
	"fmt"
	"strings"
)

// The kinds of functions that PCI Express knows.
//
// Source: PCI Express Base Specification 4.0, "PCI Express Capability Structure"; so all of this file.
const (
	rootPort, downstreamPort = 4, 6
	integrated, collector    = 9, 10
)

var expressKinds = map[uint16]string{
	0: "Endpoint", 1: "Legacy Endpoint", rootPort: "Root Port", 5: "Upstream Port", downstreamPort: "Downstream Port",
	7: "PCI-Express to PCI/PCI-X Bridge", 8: "PCI/PCI-X to PCI-Express Bridge",
	integrated: "Root Complex Integrated Endpoint", collector: "Root Complex Event Collector",
}

// express is the capability's line; v is what the function says of itself.
func (d *details) express(v uint16) string {
	kind := v >> 4 & 15
	name, ok := expressKinds[kind]
	if !ok {
		name = fmt.Sprintf("Unknown type %d", kind)
	}
	if kind == rootPort || kind == downstreamPort {
		name += " (Slot" + sign(v, 8) + ")"
	}
	return "Express " + only(d.level > 1, fmt.Sprintf("(v%d) ", v&15)) + name + fmt.Sprintf(", MSI %02x", v>>9&31)
}

// insideExpress shows the device's control and status, and the link's, if it has one.
func (d *details) insideExpress(at int, kind uint16) {
	resets := kind <= 1 || kind == integrated // only these have the bit
	resets = resets && d.U32(at+4)>>28&1 != 0
	control, status := d.U16(at+8), d.U16(at+10)
	d.line(2, "DevCtl:\t%s", bits(control, 0, "CorrErr", "NonFatalErr", "FatalErr", "UnsupReq"))
	d.line(3, "RlxdOrd%s %s%s", sign(control, 4), bits(control, 8, "ExtTag", "PhantFunc", "AuxPwr", "NoSnoop"), only(resets, " FLReset"+sign(control, 15)))
	d.line(3, "MaxPayload %d bytes, MaxReadReq %d bytes", 128<<(control>>5&7), 128<<(control>>12&7))
	d.line(2, "DevSta:\t%s", bits(status, 0, "CorrErr", "NonFatalErr", "FatalErr", "UnsupReq", "AuxPwr", "TransPend"))
	if kind == integrated || kind == collector {
		return
	}
	can, is := d.U32(at+12), d.U16(at+18)
	d.line(2, "LnkCap:\tPort #%d, Speed %s, Width x%d, ASPM %s", can>>24, speed(can), can>>4&63, saving(can))
	d.line(3, "%s", bits(uint16(can>>18), 0, "ClockPM", "Surprise", "LLActRep", "BwNot", "ASPMOptComp"))
	compare := func(is, can uint32) string {
		return only(kind != rootPort && kind != downstreamPort && is < can, " (downgraded)")
	}
	d.line(2, "LnkSta:\tSpeed %s%s, Width x%d%s", speed(uint32(is)), compare(uint32(is)&15, can&15), is>>4&63, compare(uint32(is)>>4&63, can>>4&63))
	d.line(3, "%s", bits(is, 10, "TrErr", "Train", "SlotClk", "DLActive", "BWMgmt", "ABWMgmt"))
}

// speed is a link's speed by its number, in the lowest bits.
func speed(n uint32) string {
	if n &= 15; n > 0 && n <= 6 {
		return [...]string{"2.5", "5", "8", "16", "32", "64"}[n-1] + "GT/s"
	}
	return "unknown"
}

// saving is in which states a link may save power, and how long it takes to leave them at most.
func saving(can uint32) string {
	states := can >> 10 & 3
	name := [...]string{"not supported", "L0s", "L1", "L0s L1"}[states]
	var exit []string
	if states&1 != 0 {
		exit = append(exit, "L0s "+[...]string{"<64ns", "<128ns", "<256ns", "<512ns", "<1us", "<2us", "<4us", "unlimited"}[can>>12&7])
	}
	if states&2 != 0 {
		exit = append(exit, "L1 "+[...]string{"<1us", "<2us", "<4us", "<8us", "<16us", "<32us", "<64us", "unlimited"}[can>>15&7])
	}
	return name + only(exit != nil, ", Exit Latency "+strings.Join(exit, ", "))
}

// commas puts commas where bits puts spaces.
func commas(text string) string { return strings.ReplaceAll(text, " ", ",") }
