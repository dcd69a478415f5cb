package handoff

const pageSize = 4096

// rawMap is the loader's map, in any order and possibly overlapping.
type rawMap struct {
	n  uint64
	at func(i uint64) Region
}

// SetMap makes the Map from a loader's map of n regions, of which at returns the i-th. They may be
// in any order, overlap, wrap and be empty.
func (out *Info) SetMap(n uint64, at func(i uint64) Region) {
	out.NMap = 0
	rawMap{n, at}.resolve(out)
}

// entry returns the i-th entry as [start,end); an end past 2⁶⁴ is clipped.
func (m rawMap) entry(i uint64) (start, end uint64, typ Type) {
	r := m.at(i)
	start, end, typ = r.PA, r.PA+r.Len, r.Type
	if end < start {
		end = ^uint64(0)
	}
	if typ < RAM || typ > PMEM {
		typ = Reserved // ACPI 6.5, "System Address Map Interfaces" (15)
	}
	return start, end, typ
}

// ranks orders the types: if two regions claim a byte, the higher one gets it. Anything ranks above
// RAM, and Reserved above everything.
var ranks = [...]uint8{RAM: 1, ACPI: 2, PMEM: 3, NVS: 4, Disabled: 5, Unusable: 6, Reserved: 7}

// resolve goes upwards from one entry boundary to the next; between two boundaries the claims are
// constant. It is quadratic, but there is no memory to sort into and maps are short.
func (m rawMap) resolve(out *Info) {
	var cur Region // grows while the type stays the same
	for pos, more := uint64(0), true; more; {
		typ, next := m.byteAt(pos)
		more = next > pos
		if typ != cur.Type || typ == 0 || !more {
			out.add(cur)
			cur = Region{Span{pos, 0}, typ}
		}
		cur.Len += next - pos
		pos = next
	}
}

// byteAt returns the type of the byte at pos (0: none) and the next boundary above it (pos itself
// if there is none).
func (m rawMap) byteAt(pos uint64) (typ Type, next uint64) {
	next = pos
	for i := uint64(0); i < m.n; i++ {
		start, end, t := m.entry(i)
		if start == end {
			continue
		}
		if start <= pos && pos < end && (ranks[t] > ranks[typ]) {
			typ = t
		}
		if start > pos && (next == pos || start < next) {
			next = start
		}
		if end > pos && (next == pos || end < next) {
			next = end
		}
	}
	return typ, next
}

// add appends r to the map, RAM cut to whole pages.
func (out *Info) add(r Region) {
	if r.Type == 0 {
		return
	}
	if r.Type == RAM {
		end := (r.PA + r.Len) &^ (pageSize - 1)
		skip := -r.PA & (pageSize - 1)
		if skip >= r.Len || r.PA+skip >= end {
			return
		}
		r.PA += skip
		r.Len = end - r.PA
	}
	if out.NMap == MaxRegions {
		out.Truncated = true
		return
	}
	out.Map[out.NMap] = r
	out.NMap++
}
