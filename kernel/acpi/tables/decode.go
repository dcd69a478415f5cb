package tables

import (
	"fmt"
	"io"
	"strings"
)

// decoders know the tables that tell of a board's parts, by signature.
var decoders = map[string]func(r *reader){
	"APIC": (*reader).madt,
	"FACP": (*reader).fadt,
	"MCFG": (*reader).mcfg,
	"HPET": (*reader).hpet,
	"SPCR": (*reader).spcr,
}

// Decode prints a table in words: who made it, and what it says if it is a MADT, FADT, MCFG,
// HPET or SPCR.
func (t Table) Decode(w io.Writer) error {
	r := &reader{t: t}
	r.line("%s @ %#x: %d bytes", t.Signature, t.Addr, len(t.Data))
	if sum := t.sum(); sum != 0 {
		r.line("  the checksum is wrong by %#02x", sum)
	}
	if t.Signature != "FACS" {
		revision, _ := t.number(8, 1)
		made, _ := t.number(24, 4)
		by, _ := t.number(32, 4)
		r.line("  revision %d, made by %q for %q (%d), with %q (%#x)", revision, t.text(10, 6), t.text(16, 8), made, t.text(28, 4), by)
	}
	if f := decoders[t.Signature]; f != nil {
		f(r)
	}
	r.line("")
	_, err := io.WriteString(w, r.b.String())
	return err
}

// reader prints the fields of a table.
type reader struct {
	t Table
	b strings.Builder
}

func (r *reader) line(format string, args ...any) { fmt.Fprintf(&r.b, format+"\n", args...) }

// field prints a number, if the table is long enough to have it.
func (r *reader) field(name string, off, size int, format string) {
	if n, ok := r.t.number(off, size); ok {
		r.line("  %s: "+format, name, n)
	}
}

// register prints a Generic Address Structure, if there is one at off.
func (r *reader) register(name string, off int) {
	addr, ok := r.t.number(off+4, 8)
	if !ok || addr == 0 {
		return
	}
	space, _ := r.t.number(off, 1)
	bits, _ := r.t.number(off+1, 1)
	r.line("  %s: %s %#x, %d bits", name, spaceName(space), addr, bits)
}

// spaceName is where an address is.
//
// Source: ACPI Specification 6.5, "Generic Address Structure".
func spaceName(space uint64) string {
	if names := [...]string{"memory", "port", "PCI configuration"}; space < uint64(len(names)) {
		return names[space]
	}
	return fmt.Sprintf("space %d at", space)
}

// flags prints the names of the bits of a field that are set.
func (r *reader) flags(name string, off, size int, names []string) {
	n, ok := r.t.number(off, size)
	if !ok {
		return
	}
	var set []string
	for bit := range 8 * size {
		switch {
		case n>>bit&1 == 0:
		case bit < len(names) && names[bit] != "":
			set = append(set, names[bit])
		default:
			set = append(set, fmt.Sprintf("bit %d", bit))
		}
	}
	r.line("  %s: %#x: %s", name, n, strings.Join(set, ", "))
}

// mcfg prints where the configuration space of PCI Express is in memory.
//
// Source: PCI Firmware Specification 3.3, "MCFG Table Description".
func (r *reader) mcfg() {
	for _, e := range r.t.ECAM() {
		r.line("  segment %d, buses %02x-%02x: memory %#x", e.Segment, e.First, e.Last, e.Base)
	}
}

// ECAM is a range of memory that is PCI Express configuration space.
type ECAM struct {
	Base        uint64
	Segment     uint16
	First, Last uint8 // buses
}

// ECAM returns what an MCFG lists; nothing if t is another table.
func (t Table) ECAM() (all []ECAM) {
	const first, size = 44, 16
	for off := first; t.Signature == "MCFG" && off+size <= len(t.Data); off += size {
		base, _ := t.number(off, 8)
		segment, _ := t.number(off+8, 2)
		all = append(all, ECAM{base, uint16(segment), t.Data[off+10], t.Data[off+11]})
	}
	return all
}

// hpet prints the High Precision Event Timer.
//
// Source: IA-PC HPET Specification 1.0a, "The ACPI 2.0 HPET Description Table".
func (r *reader) hpet() {
	if id, ok := r.t.number(36, 4); ok {
		r.line("  block %#x: vendor %#x, %d comparators, counts %d bits", id, id>>16, id>>8&0x1f+1, 32<<(id>>13&1))
	}
	r.register("registers", 40)
	r.field("number", 52, 1, "%d")
	r.field("least ticks without loss", 53, 2, "%d")
}

// spcr prints the serial console.
func (r *reader) spcr() {
	s, err := r.t.SPCR()
	if err != nil {
		r.line("  %s", err)
		return
	}
	r.line("  interface: %s", s.KindName())
	r.register("registers", 40)
	speed := "as firmware has set it"
	if s.Baud != 0 {
		speed = fmt.Sprint(s.Baud)
	}
	r.line("  baud: %s", speed)
	if s.GSI != 0 {
		r.line("  interrupt: GSI %d", s.GSI)
	}
	if s.IRQ != 0 {
		r.line("  interrupt: ISA %d", s.IRQ)
	}
	if s.PCI {
		r.line("  PCI: %04x:%02x:%02x.%d [%04x:%04x]", s.Segment, s.Bus, s.Slot, s.Func, s.Vendor, s.Device)
	}
}
