package inspect

import (
	"encoding/binary"
	"fmt"
	"strings"

	"sonde/kernel/pci"
)

// Show renders p with the configuration space c as lspci does, with so many of its options -v, and
// so many bytes of c.
func (n *Names) Show(p pci.Function, c pci.Config, verbose, bytes int) string {
	text := n.Format(p)
	if verbose > 0 {
		text += n.Interface(p)
	}
	text += "\n"
	if verbose > 0 {
		text += n.Details(p, c, verbose)
	}
	if bytes > 0 {
		text += dump(c, bytes)
	}
	return text + only(verbose > 0 || bytes > 0, "\n")
}

// details collects the lines that lspci -v shows below a function's name.
type details struct {
	pci.Config
	p     pci.Function
	names *Names
	level int // how often -v was given
	b     strings.Builder
}

// Details renders what p's configuration space c tells, as lspci -v does (level 1) or lspci -vv (2). Of the
// capabilities of PCI Express it has what tells of a link's speed and of errors.
//
// Source: PCI Local Bus Specification 3.0, "Configuration Space Organization".
func (n *Names) Details(p pci.Function, c pci.Config, level int) string {
	d := &details{Config: c, p: p, names: n, level: level}
	d.subsystem()
	if level > 1 {
		d.commandAndStatus()
	} else {
		d.flags()
	}
	for _, r := range p.Regions {
		d.region(r)
	}
	if d.isBridge() {
		d.bridge()
	}
	for _, r := range p.Regions {
		if r.Kind == pci.ROM {
			d.line(1, "Expansion ROM at %08x%s%s", r.Start, only(r.Off || !d.decodesMemory(), " [disabled]"), sized(r.Size))
		}
	}
	d.capabilities()
	return d.b.String()
}

func (d *details) line(depth int, format string, args ...any) {
	d.b.WriteString("\t\t\t\t"[:depth])
	fmt.Fprintf(&d.b, format, args...)
	d.b.WriteByte('\n')
}

// bits renders the bits of v that have a name, from bit first on: "Mem+ BusMaster-".
func bits(v uint16, first int, names ...string) string {
	for i, name := range names {
		names[i] = name + sign(v, first+i)
	}
	return strings.Join(names, " ")
}

func sign(v uint16, bit int) string {
	if v>>bit&1 != 0 {
		return "+"
	}
	return "-"
}

func only(when bool, text string) string {
	if when {
		return text
	}
	return ""
}

// sized is the size of a range, if it is known.
func sized(n uint64) string { return only(n != 0, " [size="+short(n)+"]") }

// Offsets in bytes.
const (
	lineSizeAt, latencyAt = 0x0c, 0x0d
	subsystemAt           = 0x2c
	pinAt, minGrantAt     = 0x3d, 0x3e
)

func (d *details) isBridge() bool      { return d.HeaderType() == 1 }
func (d *details) master() bool        { return d.U16(pci.CommandAt)&pci.BusMaster != 0 }
func (d *details) decodesMemory() bool { return d.U16(pci.CommandAt)&pci.DecodeMemory != 0 }

// subsystem names the board; a bridge has that in a capability.
func (d *details) subsystem() {
	at := subsystemAt
	if d.isBridge() {
		if at = d.Find(capSubsystem); at == 0 {
			return
		}
		at += 4
	}
	if vendor := d.U16(at); vendor != 0 && vendor != pci.Nothing {
		d.line(1, "Subsystem: %s", d.names.device(vendor, d.U16(at+2)))
	}
}

var devsel = [...]string{"fast", "medium", "slow", "??"}

// flags is the summary that -v shows.
func (d *details) flags() {
	status := d.U16(pci.StatusAt)
	text := only(d.master(), "bus master, ") + only(status>>5&1 != 0, "66MHz, ") + devsel[status>>9&3] + " devsel"
	if d.master() && d.HeaderType() < 2 {
		text += fmt.Sprintf(", latency %d", d.U8(latencyAt))
	}
	if irq := d.U8(pci.IRQAt); irq != 0 {
		text += fmt.Sprintf(", IRQ %d", irq)
	}
	d.line(1, "Flags: %s", text)
}

// commandAndStatus is what -vv shows instead.
func (d *details) commandAndStatus() {
	status := d.U16(pci.StatusAt)
	d.line(1, "Control: %s", bits(d.U16(pci.CommandAt), 0, "I/O", "Mem", "BusMaster", "SpecCycle", "MemWINV",
		"VGASnoop", "ParErr", "Stepping", "SERR", "FastB2B", "DisINTx"))
	d.line(1, "Status: %s DEVSEL=%s %s INTx%s", bits(status, 4, "Cap", "66MHz", "UDF", "FastB2B", "ParErr"),
		devsel[status>>9&3], bits(status, 11, ">TAbort", "<TAbort", "<MAbort", ">SERR", "<PERR"), sign(status, 3))
	if d.master() && d.HeaderType() < 2 {
		d.latency()
	}
	if pin, irq := d.U8(pinAt), d.U8(pci.IRQAt); pin != 0 || irq != 0 {
		name := byte('?')
		if pin != 0 {
			name = 'A' + pin - 1
		}
		d.line(1, "Interrupt: pin %c routed to IRQ %d", name, irq)
	}
}

func (d *details) latency() {
	text := fmt.Sprintf("Latency: %d", d.U8(latencyAt))
	if d.HeaderType() == 0 {
		const nanoseconds = 250 // of a unit
		var asks []string
		for i, word := range []string{"min", "max"} {
			if n := d.U8(minGrantAt + i); n != 0 {
				asks = append(asks, fmt.Sprintf("%dns %s", int(n)*nanoseconds, word))
			}
		}
		text += only(asks != nil, " ("+strings.Join(asks, ", ")+")")
	}
	if n := int(d.U8(lineSizeAt)); n != 0 {
		text += fmt.Sprintf(", Cache Line Size: %d bytes", n*4)
	}
	d.line(1, "%s", text)
}

// region is a range that a base address register has set.
func (d *details) region(r pci.Region) {
	if r.Kind != pci.BAR {
		return
	}
	text := fmt.Sprintf("Memory at %08x (%s-bit, %sprefetchable)", r.Start, map[bool]string{false: "32", true: "64"}[r.Wide],
		only(!r.Prefetchable, "non-"))
	off := !d.decodesMemory()
	if r.IO {
		text, off = fmt.Sprintf("I/O ports at %04x", r.Start), d.U16(pci.CommandAt)&pci.DecodeIO == 0
	}
	d.line(1, "%s%s%s%s", only(d.level > 1, fmt.Sprintf("Region %d: ", r.Number)), text, only(off, " [disabled]"), sized(r.Size))
}

// bridge is what a bridge passes on, and how.
func (d *details) bridge() {
	d.line(1, "Bus: primary=%02x, secondary=%02x, subordinate=%02x, sec-latency=%d", d.U8(0x18), d.U8(0x19), d.U8(0x1a), d.U8(0x1b))
	h := pci.Header{}
	for i := range h.Words {
		h.Words[i] = d.U32(4 * i)
	}
	for _, w := range h.Ways() {
		text, digits := " [disabled]", 8
		switch w.Bits {
		case 16:
			digits = 4
		case 64:
			digits = 16
		}
		if w.Limit > w.Base {
			text = fmt.Sprintf(" %0*x-%0*x%s", digits, w.Base, digits, w.Limit, sized(w.Limit-w.Base+1))
		}
		d.line(1, "%s behind bridge:%s [%d-bit]", w.What, text, w.Bits)
	}
	if d.level > 1 {
		status, control := d.U16(0x1e), d.U16(0x3e)
		d.line(1, "Secondary status: 66MHz%s %s DEVSEL=%s %s", sign(status, 5), bits(status, 7, "FastB2B", "ParErr"), devsel[status>>9&3],
			bits(status, 11, ">TAbort", "<TAbort", "<MAbort", "<SERR", "<PERR"))
		d.line(1, "BridgeCtl: %s", bits(control, 0, "Parity", "SERR", "NoISA", "VGA", "VGA16", "MAbort", ">Reset", "FastB2B"))
		d.line(2, "%s", bits(control, 8, "PriDiscTmr", "SecDiscTmr", "DiscTmrStat", "DiscTmrSERREn"))
	}
}

// dump renders the first size bytes, 16 on a line, as lspci -x does.
func dump(c pci.Config, size int) string {
	var b strings.Builder
	for at := 0; at < size; at += 16 {
		var row [16]byte
		for i := 0; i < len(row); i += 4 {
			binary.LittleEndian.PutUint32(row[i:], c(at+i))
		}
		fmt.Fprintf(&b, "%02x: % x\n", at, row)
	}
	return b.String()
}

// short is a size as lspci writes it.
func short(n uint64) string {
	unit := 0
	for n >= 1024 && n%1024 == 0 && unit < 4 {
		n, unit = n/1024, unit+1
	}
	return fmt.Sprintf("%d%s", n, [...]string{"", "K", "M", "G", "T"}[unit])
}
