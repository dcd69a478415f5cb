package tables

import "fmt"

// madt prints processors and interrupt controllers.
//
// Source: ACPI Specification 6.5, "Multiple APIC Description Table (MADT)".
func (r *reader) madt() {
	r.field("local APIC", 36, 4, "memory %#x")
	r.flags("flags", 40, 4, []string{"has two 8259 interrupt controllers"})
	for off := 44; off < len(r.t.Data); {
		size, ok := r.t.number(off+1, 1)
		if !ok || size < 2 || off+int(size) > len(r.t.Data) {
			r.line("  the entry at %#x has a length of %d, which is impossible", off, size)
			return
		}
		r.entry(Table{Data: r.t.Data[off : off+int(size)]})
		off += int(size)
	}
}

// entry prints one structure of a MADT; fields that it is too short for are 0.
func (r *reader) entry(e Table) {
	n := func(off, size int) uint64 { v, _ := e.number(off, size); return v }
	switch n(0, 1) {
	case 0:
		r.line("  processor %d: APIC %d%s", n(2, 1), n(3, 1), usable(n(4, 4)))
	case 1:
		r.line("  I/O APIC %d: memory %#x, from GSI %d on", n(2, 1), n(4, 4), n(8, 4))
	case 2:
		r.line("  ISA interrupt %d: GSI %d, %s", n(3, 1), n(4, 4), trigger(n(8, 2)))
	case 3:
		r.line("  NMI: GSI %d, %s", n(4, 4), trigger(n(2, 2)))
	case 4:
		r.line("  NMI of %s: LINT%d, %s", processor(n(2, 1), 0xff), n(5, 1), trigger(n(3, 2)))
	case 5:
		r.line("  local APIC: memory %#x", n(4, 8))
	case 9:
		r.line("  processor %d: x2APIC %d%s", n(12, 4), n(4, 4), usable(n(8, 4)))
	case 10:
		r.line("  NMI of %s: LINT%d, %s", processor(n(4, 4), 0xffff_ffff), n(8, 1), trigger(n(2, 2)))
	default:
		r.line("  entry of type %d: %d bytes", n(0, 1), len(e.Data))
	}
}

// processor names one, or all of them.
func processor(n, all uint64) string {
	if n == all {
		return "all processors"
	}
	return fmt.Sprintf("processor %d", n)
}

// usable says what a processor's flags mean.
func usable(flags uint64) string {
	switch {
	case flags&1 != 0:
		return ""
	case flags&2 != 0:
		return ", can be plugged in"
	}
	return ", must not be used"
}

// trigger says how an interrupt arrives.
//
// Source: ACPI Specification 6.5, "MPS INTI Flags".
func trigger(flags uint64) string {
	polarity := [4]string{"as the bus does", "active high", "reserved", "active low"}[flags&3]
	mode := [4]string{"as the bus does", "edge", "reserved", "level"}[flags>>2&3]
	if polarity == mode {
		return polarity
	}
	return mode + ", " + polarity
}
