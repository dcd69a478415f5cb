package space

import (
	"sync/atomic"

	"sonde/arch/amd64"
	"sonde/kernel/mm/frame"
)

type words = [512]uint64

const (
	top = 3 // level of the root; 0 is the last

	// linked is the bits of each entry that points to one of our tables. Only the last level
	// restricts access.
	linked = amd64.PTE_P | amd64.PTE_W | amd64.PTE_U | amd64.PTE_A
)

// span is the number of bytes one entry of a level covers.
func span(level uint) uint64 { return PageSize << (9 * level) }

// slot returns the entry for addr in a table of level.
func slot(t *words, addr uint64, level uint) *uint64 { return &t[addr>>(12+9*level)%512] }

// next returns the lowest address after addr that has another entry of that level.
func next(addr uint64, level uint) uint64 { return addr&^(span(level)-1) + span(level) }

// frameOf returns the frame that an entry holds.
func frameOf(e uint64) frame.Frame { return frame.Frame(e & amd64.PTE_ADDR) }

// ours reports whether an entry above the last level points to one of our tables.
func ours(e uint64) bool { return e&(amd64.PTE_P|amd64.PTE_U|amd64.PTE_PS) == amd64.PTE_P|amd64.PTE_U }

// The processor reads entries at any time, so each is written atomically.
func set(e *uint64, v uint64) { atomic.StoreUint64(e, v) }

// These functions are called with mu held.

// newTable returns an empty table of s's.
func (s *Space) newTable() (*words, uint64, error) {
	f, err := s.m.Frames.Alloc()
	if err != nil {
		return nil, 0, err
	}
	s.tables++
	return s.m.Frames.Words(f), uint64(f), nil
}

// known returns the last-level table with addr's entry, if it was used lately. Most of what the
// kernel copies from and to a program is on its stack and in its heap, and a walk from the root
// takes some eighty instructions.
func (s *Space) known(addr uint64) *words {
	if r := &s.recent[addr>>21%uint64(len(s.recent))]; r.of == addr>>21 {
		return r.t
	}
	return nil
}

func (s *Space) remember(addr uint64, t *words) *words {
	r := &s.recent[addr>>21%uint64(len(s.recent))]
	r.of, r.t = addr>>21, t
	return t
}

// lookup returns the last-level table with addr's entry; nil if there is none, and none for any
// address below absent.
func (s *Space) lookup(addr uint64) (t *words, absent uint64) {
	if t = s.known(addr); t != nil {
		return t, 0
	}
	t = s.root
	for level := uint(top); level > 0; level-- {
		e := *slot(t, addr, level)
		if !ours(e) {
			return nil, next(addr, level)
		}
		t = s.m.Frames.Words(frameOf(e))
	}
	return s.remember(addr, t), 0
}

// entry returns addr's entry, in a new table if necessary.
func (s *Space) entry(addr uint64) (*uint64, error) {
	t := s.known(addr)
	if t != nil {
		return slot(t, addr, 0), nil
	}
	t = s.root
	for level := uint(top); level > 0; level-- {
		e := slot(t, addr, level)
		if *e == 0 {
			_, pa, err := s.newTable()
			if err != nil {
				return nil, err
			}
			set(e, pa|linked)
		}
		if !ours(*e) {
			panic("space: a window has addresses of the kernel's")
		}
		t = s.m.Frames.Words(frameOf(*e))
	}
	return slot(s.remember(addr, t), addr, 0), nil
}

// each calls f for each entry of [start,end) that holds a frame.
func (s *Space) each(start, end uint64, f func(addr uint64, e *uint64)) {
	for addr := start; addr < end; {
		t, absent := s.lookup(addr)
		if t == nil {
			addr = absent
			continue
		}
		for stop := min(end, next(addr, 1)); addr < stop; addr += PageSize {
			if e := slot(t, addr, 0); *e != 0 {
				f(addr, e)
			}
		}
	}
}

// flush makes all CPUs discard their cached entries for [start,end).
func (s *Space) flush(start, end uint64, tables bool) {
	s.gen.Add(1)
	if s.m.Shootdown != nil {
		s.m.Shootdown(s, start, end, tables)
	}
}

// zap empties the entries of [start,end), and puts their frames.
func (s *Space) zap(start, end uint64) {
	var frames []frame.Frame
	s.each(start, end, func(_ uint64, e *uint64) {
		frames = append(frames, frameOf(*e))
		set(e, 0)
	})
	if len(frames) == 0 {
		return
	}
	s.flush(start, end, false)
	for _, f := range frames {
		s.put(f)
	}
}

// subtree is a table of a level with all tables below it.
type subtree struct {
	table frame.Frame
	level uint
}

// prune frees the tables that cover only addresses in [lo,hi), where nothing is mapped; [start,end)
// in it is the range that was unmapped.
func (s *Space) prune(lo, hi, start, end uint64) {
	dead := s.unlink(nil, s.root, top, 0, Window{lo, hi}, Window{start, end})
	if len(dead) == 0 {
		return
	}
	clear(s.recent[:])
	s.flush(start, end, true)
	for _, d := range dead {
		s.freeTables(d)
	}
}

// unlink empties the entries of t that overlap the range in and cover only addresses of the range
// free, and appends the tables that they pointed to to dead. The first entry of t, a table of
// level, covers base.
func (s *Space) unlink(dead []subtree, t *words, level uint, base uint64, free, in Window) []subtree {
	i := (max(in.Start, base) - base) / span(level)
	for ; i < 512 && base+i*span(level) < in.End; i++ {
		e, at := &t[i], base+i*span(level)
		switch {
		case !ours(*e):
		case at >= free.Start && at+span(level) <= free.End:
			dead = append(dead, subtree{frameOf(*e), level - 1})
			set(e, 0)
		case level > 1:
			dead = s.unlink(dead, s.m.Frames.Words(frameOf(*e)), level-1, at, free, in)
		}
	}
	return dead
}

// freeTables frees tables that no entry points to any more, and the frames in them. It looks at
// eight entries at a time, as most are empty.
func (s *Space) freeTables(d subtree) {
	t := s.m.Frames.Words(d.table)
	for i := 0; i < len(t); i += 8 {
		if e := (*[8]uint64)(t[i:]); e[0]|e[1]|e[2]|e[3]|e[4]|e[5]|e[6]|e[7] != 0 {
			s.freeEntries(e[:], d.level)
		}
	}
	s.tables--
	s.m.Frames.Put(d.table)
}

// freeEntries frees what entries of a table of the given level point to.
func (s *Space) freeEntries(entries []uint64, level uint) {
	for _, e := range entries {
		switch {
		case e == 0:
		case level == 0:
			s.put(frameOf(e))
		case ours(e):
			s.freeTables(subtree{frameOf(e), level - 1})
		}
	}
}
