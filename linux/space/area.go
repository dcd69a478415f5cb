package space

import "sonde/kernel/mm/backing"

// An area is a range of pages with the same attributes.
type area struct {
	start, end uint64
	prot       Prot
	flags      Flags         // of kinds
	back       backing.Store // nil: anonymous memory
	off        uint64        // offset of start in back, in bytes
	name       string        // without a back: [heap] and the like
}

// allows reports whether the area allows that access.
func (a *area) allows(want Prot) bool {
	p := a.prot
	if p != 0 {
		p |= Read
	}
	return p&want == want
}

// page returns the number of addr's page in the backing.
func (a *area) page(addr uint64) uint64 { return (a.off + addr - a.start) / PageSize }

// continues reports whether b follows a and has the same attributes.
func (a *area) continues(b *area) bool {
	return a.end == b.start && a.prot == b.prot && a.flags == b.flags && a.name == b.name &&
		a.back == b.back && (a.back == nil || a.off+a.end-a.start == b.off)
}

// counts returns how many of n bytes of the area count against the program's limits.
func (a *area) counts(n uint64) uint64 {
	if a.flags&OfKernel != 0 {
		return 0
	}
	return n
}

func (a *area) hold() {
	if a.back != nil {
		a.back.Hold()
	}
}

func (a *area) drop() {
	if a.back != nil {
		a.back.Drop()
	}
}

// areas is sorted by address, and no two overlap.
type areas []area

// index returns the number of the first area that ends after addr. The search is written out,
// because sort.Search calls a function for each step.
func (t areas) index(addr uint64) int {
	lo, hi := 0, len(t)
	for lo < hi {
		if mid := int(uint(lo+hi) / 2); t[mid].end > addr {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

// at returns the area that contains addr, or nil.
func (t areas) at(addr uint64) *area {
	if i := t.index(addr); i < len(t) && t[i].start <= addr {
		return &t[i]
	}
	return nil
}

// free reports whether no area is in [start,end).
func (t areas) free(start, end uint64) bool {
	i := t.index(start)
	return i == len(t) || t[i].start >= end
}

// covered reports whether areas cover all of [start,end).
func (t areas) covered(start, end uint64) bool {
	for i := t.index(start); start < end; i++ {
		if i == len(t) || t[i].start > start {
			return false
		}
		start = t[i].end
	}
	return true
}

// in returns the numbers of the areas that overlap [start,end): from i to j-1.
func (t areas) in(start, end uint64) (i, j int) {
	i = t.index(start)
	for j = i; j < len(t) && t[j].start < end; j++ {
	}
	return i, j
}

// size returns how many bytes of [start,end) are in areas, and count.
func (t areas) size(start, end uint64) (n uint64) {
	i, j := t.in(start, end)
	for _, a := range t[i:j] {
		n += a.counts(min(a.end, end) - max(a.start, start))
	}
	return n
}

// gap returns the largest free range around addr, which is in no area.
func (t areas) gap(addr uint64) (lo, hi uint64) {
	i := t.index(addr)
	hi = unlimited
	if i < len(t) {
		hi = t[i].start
	}
	if i > 0 {
		lo = t[i-1].end
	}
	return lo, hi
}

// splits returns how many areas there are more once [start,end) is cut out: one, if it is inside an
// area.
func (t areas) splits(start, end uint64) int {
	if a := t.at(start); a != nil && a.start < start && end < a.end {
		return 1
	}
	return 0
}
