package paging

import "sonde/arch/amd64"

// A program's tables contain the kernel's mappings, too, for the supervisor only, so that neither a
// system call nor a trap has to load CR3. Where the kernel and programs share an entry of a table,
// the program's tables have a table of their own there, with copies of the kernel's entries. The
// kernel's mappings do not change after boot, so copies stay valid.
//
// Rejected: tables without the kernel, and a change of CR3 at each entry. It took 8 µs for each
// system call under QEMU, whose TLB is then empty each time; a processor with PCIDs would need
// less.

// ShareWith fills root, the empty root of a program's tables, with the mappings of t. Those below
// floor, a multiple of 2 MiB, are left out: programs lie there. table makes an empty table and
// returns it and its physical address; its error ends the work. Entries that lead to tables made by
// table have PTE_U; those that lead to tables of t do not.
func (t *Tables) ShareWith(root *[entries]uint64, floor uint64, table func() (*[entries]uint64, uint64, error)) error {
	return t.Share(floor).With(root, table)
}

// Shared is what ShareWith writes, gathered once: some hundred entries of two thousand, all of
// which each fork would have to check.
type Shared struct {
	root  []entry
	first []entry     // of the table for the first 512 GiB
	dirs  []sharedDir // tables in the first one, with entries of their own
}

// sharedDir is the table that entry at leads to.
type sharedDir struct {
	at      uint64
	entries []entry
}

// entry is the number and the value of an entry that is not 0.
type entry struct{ at, value uint64 }

// Share gathers the present mappings of t.
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
	// Kernel and programs share the first 512 GiB.
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

// ownBits are the bits of an entry that leads to one of the program's own tables.
const ownBits = amd64.PTE_P | amd64.PTE_W | amd64.PTE_U

// huge is the level of 1 GiB pages.
const huge = 2

// entry returns entry i of the table at pa.
func (t *Tables) entry(pa, i uint64) uint64 { return t.Mem.Read64(pa + i*8) }

// A Window is [Start, End) in virtual addresses.
type Window struct{ Start, End uint64 }

// Windows returns the ranges in [first, end) that programs can use when ShareWith has shared t, in
// order: nothing of t is in them.
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

// shared reports whether ShareWith leaves the entry for va to t, and how many bytes from va on it
// covers.
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
