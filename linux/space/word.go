package space

import (
	"encoding/binary"
	"fmt"
)

// wordSize is the size of a register in bytes.
const wordSize = 8

// LoadWord returns the 8 bytes at addr, as CopyIn would copy them. User probes load and store words
// at each hit, so these functions have a shorter path.
//
// Errors: as CopyIn.
func (s *Space) LoadWord(addr uint64) (uint64, error) {
	if addr%PageSize > PageSize-wordSize {
		return s.loadApart(addr)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e, err := s.access(addr, Read)
	if err != nil {
		return 0, fmt.Errorf("%#x: %w", addr, err)
	}
	return binary.LittleEndian.Uint64(s.m.Frames.Bytes(frameOf(*e))[addr%PageSize:]), nil
}

// LoadPair returns two adjacent words.
//
// Errors: as CopyIn.
func (s *Space) LoadPair(addr uint64) (first, second uint64, err error) {
	if addr%PageSize > PageSize-2*wordSize {
		if first, err = s.loadApart(addr); err == nil {
			second, err = s.loadApart(addr + wordSize)
		}
		return first, second, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e, err := s.access(addr, Read)
	if err != nil {
		return 0, 0, fmt.Errorf("%#x: %w", addr, err)
	}
	p := s.m.Frames.Bytes(frameOf(*e))[addr%PageSize:]
	return binary.LittleEndian.Uint64(p), binary.LittleEndian.Uint64(p[wordSize:]), nil
}

// SwapWord replaces the 8 bytes at addr, and returns the old ones.
//
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

// loadApart loads a word that may be on two pages.
func (s *Space) loadApart(addr uint64) (uint64, error) {
	var b [wordSize]byte
	_, err := s.CopyIn(b[:], addr)
	return binary.LittleEndian.Uint64(b[:]), err
}

// swapApart swaps a word that may be on two pages. After an error nothing has changed.
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
