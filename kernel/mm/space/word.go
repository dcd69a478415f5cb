package space

import (
	"encoding/binary"
	"fmt"
)

// wordSize is that of a register.
const wordSize = 8

// LoadWord returns the 8 bytes at addr, as CopyIn would copy them. User probes load and
// store words at each hit, so these have a shorter way.
//
// Context: goroutine.
// Errors: as CopyIn.
func (s *Space) LoadWord(addr uint64) (uint64, error) {
	var v [1]uint64
	err := s.LoadWords(v[:], addr)
	return v[0], err
}

// LoadWords is LoadWord for several, one behind the other.
//
// Context: goroutine.
// Errors: as CopyIn.
func (s *Space) LoadWords(dst []uint64, addr uint64) error {
	n := wordSize * uint64(len(dst))
	if addr%PageSize > PageSize-n {
		return s.loadApart(dst, addr)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e, err := s.access(addr, Read)
	if err != nil {
		return fmt.Errorf("%#x: %w", addr, err)
	}
	p := s.m.Frames.Bytes(frameOf(*e))[addr%PageSize:]
	for i := range dst {
		dst[i] = binary.LittleEndian.Uint64(p[wordSize*i:])
	}
	return nil
}

// SwapWord changes the 8 bytes at addr, and returns what they were.
//
// Context: goroutine.
// Errors: as CopyOut.
func (s *Space) SwapWord(addr, v uint64) (old uint64, err error) {
	if addr%PageSize > PageSize-wordSize {
		return s.swapApart(addr, v)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e, err := s.access(addr, Write)
	if err != nil {
		return 0, fmt.Errorf("%#x: %w", addr, err)
	}
	p := s.m.Frames.Bytes(frameOf(*e))[addr%PageSize:]
	old = binary.LittleEndian.Uint64(p)
	binary.LittleEndian.PutUint64(p, v)
	return old, nil
}

// loadApart loads words that are on two pages.
func (s *Space) loadApart(dst []uint64, addr uint64) error {
	for i := range dst {
		var b [wordSize]byte
		if _, err := s.CopyIn(b[:], addr+wordSize*uint64(i)); err != nil {
			return err
		}
		dst[i] = binary.LittleEndian.Uint64(b[:])
	}
	return nil
}

// swapApart swaps one that is. After an error nothing has changed.
func (s *Space) swapApart(addr, v uint64) (old uint64, err error) {
	var b [wordSize]byte
	if err := s.Fault(addr+wordSize-1, Write); err != nil {
		return 0, fmt.Errorf("%#x: %w", addr, err)
	}
	if _, err := s.CopyIn(b[:], addr); err != nil {
		return 0, err
	}
	old = binary.LittleEndian.Uint64(b[:])
	binary.LittleEndian.PutUint64(b[:], v)
	_, err = s.CopyOut(addr, b[:])
	return old, err
}
