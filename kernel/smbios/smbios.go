// Package smbios reads what firmware says about a board in the tables of the System
// Management BIOS, which Linux calls DMI: its maker, its name, its serial numbers.
//
// Memory comes from an io.ReaderAt. Firmware is not trusted: nothing is read beyond the length
// that the entry point gives, which is bounded.
//
// Source: DMTF DSP0134, "System Management BIOS (SMBIOS) Reference Specification" 3.6.
package smbios

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"syscall"

	"sonde/kernel/refusal"
)

// maxTable bounds the structures, in bytes; more is taken for damage.
const maxTable = 1 << 20

var le = binary.LittleEndian

// Tables are a machine's structures. The zero Tables, and nil, say nothing.
type Tables struct {
	Entry        []byte // the entry point, as it is in memory
	Raw          []byte // the structures, likewise
	Addr         uint64 // of Raw
	Major, Minor uint8
	All          []Structure
}

// Structure is one of a table. Data is its formatted part, header included.
type Structure struct {
	Type    uint8
	Handle  uint16
	Data    []byte
	Strings []string
}

// Number reads a field of 1, 2, 4 or 8 bytes; not ok if the structure is too short for it.
func (s Structure) Number(off, size int) (n uint64, ok bool) {
	if off+size > len(s.Data) {
		return 0, false
	}
	for i := size - 1; i >= 0; i-- {
		n = n<<8 | uint64(s.Data[off+i])
	}
	return n, true
}

// Text returns the string whose number is at off; "" if there is none.
func (s Structure) Text(off int) string {
	n, ok := s.Number(off, 1)
	if !ok || n == 0 || int(n) > len(s.Strings) {
		return ""
	}
	return s.Strings[n-1]
}

// First returns the first structure of a type.
func (t *Tables) First(typ uint8) (Structure, bool) {
	if t != nil {
		for _, s := range t.All {
			if s.Type == typ {
				return s, true
			}
		}
	}
	return Structure{}, false
}

// Where a BIOS leaves its entry point, at a multiple of 16.
const (
	biosStart, biosEnd = 0xf0000, 0x100000
	entryAlign         = 16
)

// FindBIOS reads the tables of a machine with a BIOS.
//
// Errors: ENOENT there is no entry point; else as At.
func FindBIOS(mem io.ReaderAt) (*Tables, error) {
	bios := make([]byte, biosEnd-biosStart)
	if _, err := mem.ReadAt(bios, biosStart); err != nil {
		return nil, fmt.Errorf("smbios: %w", err)
	}
	for _, anchor := range []string{"_SM3_", "_SM_"} { // the one with 64 bits is better
		for at := 0; at < len(bios); at += entryAlign {
			if !bytes.HasPrefix(bios[at:], []byte(anchor)) {
				continue
			}
			if _, err := entry(bios[at:]); err == nil {
				return At(mem, uint64(biosStart+at))
			}
		}
	}
	return nil, refusal.New(syscall.ENOENT, "smbios: no entry point in the firmware's memory")
}

// At reads the tables whose entry point is at physical address addr.
//
// Errors: EIO it is none, or the table is damaged; and those of mem.
func At(mem io.ReaderAt, addr uint64) (*Tables, error) {
	const most = 32
	b := make([]byte, most)
	if _, err := mem.ReadAt(b, int64(addr)); err != nil {
		return nil, fmt.Errorf("smbios: entry point at %#x: %w", addr, err)
	}
	t, err := entry(b)
	if err != nil {
		return nil, fmt.Errorf("smbios: entry point at %#x: %w", addr, err)
	}
	if _, err := mem.ReadAt(t.Raw, int64(t.Addr)); err != nil {
		return nil, fmt.Errorf("smbios: structures at %#x: %w", t.Addr, err)
	}
	t.split()
	return t, nil
}

// entry reads an entry point: Raw is empty, but has its length.
//
// Source: DSP0134, "Table convention".
func entry(b []byte) (*Tables, error) {
	wrong := func(why string) (*Tables, error) { return nil, refusal.New(syscall.EIO, "%s", why) }
	switch {
	case len(b) >= 0x18 && bytes.HasPrefix(b, []byte("_SM3_")):
		n := int(b[6])
		if n < 0x18 || n > len(b) || sum(b[:n]) != 0 {
			return wrong("the checksum is wrong")
		}
		size := le.Uint32(b[12:])
		if size > maxTable {
			return wrong("the structures are too long")
		}
		return &Tables{Entry: b[:n], Raw: make([]byte, size), Addr: le.Uint64(b[16:]), Major: b[7], Minor: b[8]}, nil
	case len(b) >= 0x1f && bytes.HasPrefix(b, []byte("_SM_")) && bytes.Equal(b[16:21], []byte("_DMI_")):
		n := max(int(b[5]), 0x1f) // old ones say 0x1e
		if n > len(b) || sum(b[:b[5]]) != 0 {
			return wrong("the checksum is wrong")
		}
		return &Tables{Entry: b[:n], Raw: make([]byte, le.Uint16(b[22:])), Addr: uint64(le.Uint32(b[24:])), Major: b[6], Minor: b[7]}, nil
	}
	return wrong("it has no known signature")
}

func sum(b []byte) (n byte) {
	for _, c := range b {
		n += c
	}
	return n
}

// split finds the structures in Raw: each is followed by its strings, with an empty one at
// the end. What is cut off ends the list.
func (t *Tables) split() {
	const head, endOfTable = 4, 127
	for b := t.Raw; len(b) >= head; {
		n := int(b[1])
		if n < head || n > len(b) {
			return
		}
		s := Structure{Type: b[0], Handle: le.Uint16(b[2:]), Data: b[:n]}
		end := bytes.Index(b[n:], []byte{0, 0})
		if end < 0 {
			return
		}
		if end > 0 {
			s.Strings = strings.Split(string(b[n:n+end]), "\x00")
		}
		t.All = append(t.All, s)
		if s.Type == endOfTable {
			return
		}
		b = b[n+end+2:]
	}
}
