package elf

import (
	"fmt"

	"sonde/kernel/mm/backing"
	"sonde/linux/space"
)

// pieBase is where position-independent programs are put, as in Linux.
const pieBase = 0x5555_5555_4000

// mapped says where a file has been put.
type mapped struct {
	bias, entry, end   uint64
	codeStart, codeEnd uint64
}

// place maps the file's segments: where they say, or, if they do not care, at or below
// hint (0: anywhere).
func (h *header) place(s *space.Space, hint uint64) (m mapped, err error) {
	first, last := &h.loads[0], &h.loads[len(h.loads)-1]
	start, end := first.VAddr&^(page-1), roundUp(last.end())
	back, err := h.file.Backing()
	if err != nil {
		return m, fmt.Errorf("the file cannot be mapped: %w", err)
	}
	if !h.fixed {
		if m.bias, err = h.reserve(s, hint, start, end-start); err != nil {
			return m, err
		}
	}
	m.entry, m.end = h.entry+m.bias, end+m.bias
	at := start
	for i := range h.loads {
		g := &h.loads[i]
		from := (g.VAddr + m.bias) &^ (page - 1)
		switch {
		case h.fixed && !s.Allows(from, roundUp(g.end())):
			return m, corrupt("segment %d is linked at %#x..%#x: programs are from 0x10000 to %#x", i, g.VAddr, g.end(), s.Top())
		case !h.fixed && from > at+m.bias: // what was reserved between segments
			if err := s.Unmap(at+m.bias, from-at-m.bias); err != nil {
				return m, err
			}
		}
		if err := g.load(s, back, m.bias); err != nil {
			return m, fmt.Errorf("segment %d: %w", i, err)
		}
		at = roundUp(g.end())
		if g.prot()&space.Exec != 0 && m.codeEnd == 0 {
			m.codeStart, m.codeEnd = g.VAddr+m.bias, g.end()+m.bias
		}
	}
	return m, nil
}

// reserve finds room for n bytes, which are to be at start plus a multiple of the
// file's alignment, and returns that multiple.
func (h *header) reserve(s *space.Space, hint, start, n uint64) (bias uint64, err error) {
	slack := h.align - page
	at, err := s.Map(hint, n+slack, 0, space.NoReserve, nil, 0)
	if err != nil {
		return 0, err
	}
	bias = (at + slack - start) &^ (h.align - 1)
	if from := start + bias; from > at {
		err = s.Unmap(at, from-at)
	}
	if behind := start + bias + n; err == nil && behind < at+n+slack {
		err = s.Unmap(behind, at+n+slack-behind)
	}
	return bias, err
}

// load maps one segment: the part that is in the file, and the zeroes after it.
func (g *segment) load(s *space.Space, back backing.Store, bias uint64) error {
	start := (g.VAddr + bias) &^ (page - 1)
	fileEnd, end := g.VAddr+bias+g.FileSize, roundUp(g.end()+bias)
	zeroes := start
	if g.FileSize > 0 {
		zeroes = roundUp(fileEnd)
		if err := g.loadFile(s, back, start, fileEnd, zeroes); err != nil {
			return err
		}
	}
	if end <= zeroes {
		return nil
	}
	_, err := s.Map(zeroes, end-zeroes, g.prot(), space.Fixed, nil, 0)
	return err
}

// loadFile maps [start,end), whose content is the file's up to fileEnd.
func (g *segment) loadFile(s *space.Space, back backing.Store, start, fileEnd, end uint64) error {
	prot := g.prot()
	tail := g.MemSize > g.FileSize && fileEnd < end
	if tail {
		prot |= space.Write
	}
	if _, err := s.Map(start, end-start, prot, space.Fixed, back, g.Offset&^(page-1)); err != nil {
		return err
	}
	if !tail {
		return nil
	}
	if err := s.Clear(fileEnd, end-fileEnd); err != nil {
		return err
	}
	if prot == g.prot() {
		return nil
	}
	return s.Protect(start, end-start, g.prot())
}
