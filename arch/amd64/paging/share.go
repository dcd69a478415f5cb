package paging

import "sonde/arch/amd64"

// A program's tables hold the kernel's mappings as well, for the supervisor only, so
// that neither a system call nor a trap has to load CR3. Where kernel and programs
// lie in one entry of a table, the program's tables have a table of their own there,
// with the kernel's entries copied. The kernel's mappings do not change after boot, so
// copies stay right.
//
// Rejected: tables without the kernel and a change of CR3 at each entry. It took 8 µs
// for each system call under QEMU, whose TLB is then empty each time; a processor with
// PCIDs would pay less.

// ShareWith fills root, the empty root of a program's tables, with what t maps. What t
// maps below floor, a multiple of 2 MiB, is left out: programs lie there.
// table makes an empty table and returns it and its physical address; its error ends
// the work. Entries that lead to tables that table made have PTE_U; those that are t's
// have not.
func (t *Tables) ShareWith(root *[entries]uint64, floor uint64, table func() (*[entries]uint64, uint64, error)) error {
	return t.Share(floor).With(root, table)
}

// Shared is what ShareWith writes, so that it is gathered once: some hundred entries
// of two thousand, which each fork would have to look at.
type Shared struct {
	root  []entry
	first []entry     // of the table for the first 512 GiB
	dirs  []sharedDir // tables in that, with entries of their own
}

// sharedDir is the table that entry at leads to.
type sharedDir struct {
	at      uint64
	entries []entry
}

// entry is number and value of one that is not 0.
type entry struct{ at, value uint64 }

// Share gathers what t maps now.
func (t *Tables) Share(floor uint64) *Shared {
	s := &Shared{root: t.gather(t.Root, func(i uint64) bool { return i > 0 })}
	first := t.entry(t.Root, 0)
	if first&amd64.PTE_P == 0 {
		return s
	}
	for _, e := range t.gather(first&amd64.PTE_ADDR, func(uint64) bool { return true }) {
		switch {
		case e.value&amd64.PTE_P == 0:
		case e.value&amd64.PTE_PS == 0:
			from := func(j uint64) bool { return e.at*span(huge)+j*span(big) >= floor }
			s.dirs = append(s.dirs, sharedDir{e.at, t.gather(e.value&amd64.PTE_ADDR, from)})
		case e.at*span(huge) >= floor:
			s.first = append(s.first, e)
		}
	}
	return s
}

// gather returns the entries of the table at pa that are wanted and not 0.
func (t *Tables) gather(pa uint64, want func(i uint64) bool) (list []entry) {
	for i := range uint64(entries) {
		if v := t.entry(pa, i); v != 0 && want(i) {
			list = append(list, entry{i, v})
		}
	}
	return list
}

// With is ShareWith.
func (s *Shared) With(root *[entries]uint64, table func() (*[entries]uint64, uint64, error)) error {
	fill(root, s.root)
	if s.first == nil && s.dirs == nil {
		return nil
	}
	// The first 512 GiB are for both.
	own, pa, err := table()
	if err != nil {
		return err
	}
	root[0] = pa | ownBits
	fill(own, s.first)
	for _, d := range s.dirs {
		dir, pa, err := table()
		if err != nil {
			return err
		}
		own[d.at] = pa | ownBits
		fill(dir, d.entries)
	}
	return nil
}

func fill(t *[entries]uint64, list []entry) {
	for _, e := range list {
		t[e.at%entries] = e.value
	}
}

// ownBits are those of an entry that leads to a table of the program's own.
const ownBits = amd64.PTE_P | amd64.PTE_W | amd64.PTE_U

// huge is the level of 1 GiB pages.
const huge = 2

// entry returns entry i of the table at pa.
func (t *Tables) entry(pa, i uint64) uint64 { return t.Mem.Read64(pa + i*8) }

// A Window is [Start, End) in virtual addresses.
type Window struct{ Start, End uint64 }

// Windows returns what is left to programs in [first, end) when ShareWith has shared t:
// the ranges in which nothing of t is, in order.
func (t *Tables) Windows(first, floor, end uint64) (list []Window) {
	start := first
	add := func(to uint64) {
		if to > start {
			list = append(list, Window{start, to})
		}
	}
	for va := uint64(0); va < end; {
		n, used := t.shared(va, floor)
		if used && va+n > first {
			add(min(va, end))
			start = max(start, va+n)
		}
		va += n
	}
	add(end)
	return list
}

// shared reports whether ShareWith leaves the entry for va to t, and how many bytes
// from va on it covers.
func (t *Tables) shared(va, floor uint64) (n uint64, used bool) {
	table := t.Root
	for level := uint(top); ; level-- {
		e := t.Mem.Read64(slotOf(table, va, level))
		whole := va >= span(top) || level == big || level < top && e&amd64.PTE_PS != 0
		if e&amd64.PTE_P == 0 || whole {
			return left(va, level), e&amd64.PTE_P != 0 && va >= floor
		}
		table = e & amd64.PTE_ADDR
	}
}
