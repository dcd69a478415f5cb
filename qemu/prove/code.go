package main

import (
	"debug/elf"
	"fmt"
)

// code is that of an image.
type code struct {
	addr  uint64
	bytes []byte
}

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
	return &code{s.Addr, b}, nil
}

// at returns the code from addr on, nil if there is none.
func (c *code) at(addr uint64) []byte {
	if addr-c.addr >= uint64(len(c.bytes)) {
		return nil
	}
	return c.bytes[addr-c.addr:]
}
