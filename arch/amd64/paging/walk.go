package paging

import "sonde/arch/amd64"

// span is the number of bytes one entry of a level covers.
func span(level uint) uint64 { return PageSize << (9 * level) }

// slotOf returns where the entry for va lies in a table of level.
func slotOf(table, va uint64, level uint) uint64 { return table + va>>(12+9*level)%entries*8 }

// left is the number of bytes from va to the end of its entry at level.
func left(va uint64, level uint) uint64 { return span(level) - va&(span(level)-1) }

// addrMask selects the address of the page that an entry of level maps.
func addrMask(level uint) uint64 { return amd64.PTE_ADDR &^ (span(level) - 1) }

// leaf is the bits of an entry of level that maps a page.
func leaf(level uint) uint64 {
	if level == 0 {
		return amd64.PTE_P
	}
	return amd64.PTE_P | amd64.PTE_PS
}

func canonical(va uint64) bool { return uint64(int64(va)<<16>>16) == va }

// checkRange refuses ranges that tables cannot hold. A range may end at 2⁶⁴ but not wrap around,
// nor cross the hole between the two halves.
func checkRange(va, size, flags uint64) Code {
	last := va + size - 1
	switch {
	case va%PageSize != 0 || size%PageSize != 0 || size == 0:
		return Unaligned
	case last < va || !canonical(va) || !canonical(last) || va>>63 != last>>63:
		return NonCanonical
	case flags&^Flags != 0:
		return BadFlags
	}
	return OK
}

// walk follows va to the entry that maps it or is not present.
func (t *Tables) walk(va uint64) (slot uint64, level uint, e uint64) {
	table := t.Root
	for level = top; ; level-- {
		slot = slotOf(table, va, level)
		e = t.Mem.Read64(slot)
		if level == 0 || e&amd64.PTE_P == 0 || level < top && e&amd64.PTE_PS != 0 {
			return slot, level, e
		}
		table = e & amd64.PTE_ADDR
	}
}

// all reports whether every page of the range is mapped, or none is.
func (t *Tables) all(va, size uint64, mapped bool) bool {
	for off := uint64(0); off < size; {
		_, level, e := t.walk(va + off)
		if e&amd64.PTE_P != 0 != mapped {
			return false
		}
		off += left(va+off, level)
	}
	return true
}

// descend returns the slot for va at the wanted level, and makes missing tables. If a table of
// smaller pages still exists, although its pages are gone, it is used: the slot is then one of the
// last level. Slot 0: out of pages.
func (t *Tables) descend(va uint64, want uint, flags uint64) (slot uint64, level uint) {
	table := t.Root
	for level = top; ; level-- {
		slot = slotOf(table, va, level)
		e := t.Mem.Read64(slot)
		if level == 0 || level == want && e&amd64.PTE_P == 0 {
			return slot, level
		}
		if e&amd64.PTE_P == 0 {
			if e = t.newPage(); e == 0 {
				return 0, 0
			}
		}
		t.Mem.Write64(slot, e|pathBits(flags))
		table = e & amd64.PTE_ADDR
	}
}

// pathBits are set in every table on the way to an entry. The processor applies the strictest bits
// of a path, so only the last entry restricts access.
func pathBits(flags uint64) uint64 { return amd64.PTE_P | amd64.PTE_W | flags&amd64.PTE_U }

// allow sets the path bits above va's entry at level.
func (t *Tables) allow(va uint64, level uint, flags uint64) {
	table := t.Root
	for l := uint(top); l > level; l-- {
		slot := slotOf(table, va, l)
		e := t.Mem.Read64(slot)
		if e|pathBits(flags) != e {
			t.Mem.Write64(slot, e|pathBits(flags))
		}
		table = e & amd64.PTE_ADDR
	}
}

// prepare checks that the range is mapped, and splits large pages at its two ends.
func (t *Tables) prepare(va, size, flags uint64) Code {
	if c := checkRange(va, size, flags); c != OK {
		return c
	}
	if t.Root == 0 || !t.all(va, size, true) {
		return NotMapped
	}
	if c := t.split(va); c != OK {
		return c
	}
	// The byte after the range, if the last page of the range extends to it.
	if _, level, _ := t.walk(va + size - 1); (va+size)&(span(level)-1) == 0 {
		return OK
	}
	return t.split(va + size)
}

// split splits large pages until one begins at va, which is mapped. The new table is complete
// before the entry that points to it is written.
func (t *Tables) split(va uint64) Code {
	for {
		slot, level, e := t.walk(va)
		if va&(span(level)-1) == 0 {
			return OK
		}
		table := t.newPage()
		if table == 0 {
			return OutOfPages
		}
		pa, flags := e&addrMask(level), e&Flags|leaf(level-1)
		for i := uint64(0); i < entries; i++ {
			t.Mem.Write64(table+i*8, pa+i*span(level-1)|flags)
		}
		t.Mem.Write64(slot, table|pathBits(flags))
	}
}

// clear makes the range not present; its ends are page boundaries.
func (t *Tables) clear(va, size uint64) {
	for off := uint64(0); off < size; {
		slot, level, e := t.walk(va + off)
		if e&amd64.PTE_P != 0 {
			t.Mem.Write64(slot, 0)
		}
		off += left(va+off, level)
	}
}

// newPage takes a zeroed page from the region, 0 if there is none.
func (t *Tables) newPage() uint64 {
	pa := t.Next
	if pa == 0 || pa%PageSize != 0 || pa >= t.End || t.End-pa < PageSize || !t.Mem.Zero(pa, PageSize) {
		return 0
	}
	t.Next = pa + PageSize
	return pa
}
