//go:build linux

package main

import (
	"cmp"
	"debug/elf"
	"fmt"
	"slices"
)

// code is that of an image.
type code struct {
	addr      uint64
	bytes     []byte
	functions []function // in order of address
}

// function is one of the code.
type function struct{ addr, size uint64 }

func newCode(image string) (*code, error) {
	f, err := elf.Open(image)
	if err != nil {
		return nil, fmt.Errorf("prove: %w", err)
	}
	defer f.Close()
	s := f.Section(".text")
	if s == nil {
		return nil, fmt.Errorf("prove: %s has no code", image)
	}
	b, err := s.Data()
	if err != nil {
		return nil, fmt.Errorf("prove: %s: %w", image, err)
	}
	c := &code{addr: s.Addr, bytes: b}
	syms, err := f.Symbols()
	if err != nil {
		return nil, fmt.Errorf("prove: %s: %w", image, err)
	}
	for _, s := range syms {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Size > 0 && uint64(len(c.at(s.Value))) >= s.Size {
			c.functions = append(c.functions, function{s.Value, s.Size})
		}
	}
	slices.SortFunc(c.functions, func(a, b function) int { return cmp.Compare(a.addr, b.addr) })
	return c, nil
}

// at returns the code from addr on, nil if there is none.
func (c *code) at(addr uint64) []byte {
	if addr-c.addr >= uint64(len(c.bytes)) {
		return nil
	}
	return c.bytes[addr-c.addr:]
}
