package elf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"syscall"

	"sonde/kernel/abi"
	"sonde/kernel/refusal"
	"sonde/linux/space"
)

const (
	headerSize  = abi.ELFHeaderSize
	segmentSize = abi.ELFSegmentSize
	maxSegments = 512
	maxPath     = 4096
	maxAlign    = 1 << 30
)

const page = space.PageSize

// A segment is an entry of the program header table.
type segment abi.ELFSegment

// end is the address after the segment.
func (g *segment) end() uint64 { return g.VAddr + g.MemSize }

// prot is how the segment may be accessed: the bits are in another order.
func (g *segment) prot() (p space.Prot) {
	for i, bit := range []space.Prot{space.Exec, space.Write, space.Read} {
		if g.Flags>>i&1 != 0 {
			p |= bit
		}
	}
	return p
}

// header is what is needed of an ELF file. What it says is consistent.
type header struct {
	file       File
	fixed      bool // not position-independent
	entry      uint64
	phoff      uint64
	segments   int // in the table
	loads      []segment
	align      uint64
	interp     string
	phdr       uint64 // where the program finds the table; 0: nowhere
	stackFlags uint32
}

func corrupt(format string, args ...any) error { return refusal.New(syscall.ENOEXEC, format, args...) }

// readAt fills p from off, all of which must be there.
func readAt(f File, p []byte, off uint64) error {
	if n, err := f.ReadAt(p, int64(off)); n < len(p) {
		if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return corrupt("the file ends at %d, within what is read at %d", off+uint64(n), off)
		}
		return err
	}
	return nil
}

// within reports whether [off,off+n) is in the file.
func within(f File, off, n uint64) bool {
	size := uint64(max(f.Size(), 0))
	return off <= size && n <= size-off
}

// readHeader reads what a file says of itself and checks it.
func readHeader(f File) (*header, error) {
	var e abi.ELFHeader
	if !within(f, 0, headerSize) {
		return nil, corrupt("%d bytes are too few for a program", f.Size())
	}
	if err := readAt(f, abi.Bytes(&e), 0); err != nil {
		return nil, err
	}
	h := &header{file: f, entry: e.Entry, phoff: e.Phoff, segments: int(e.Phnum), fixed: e.Type == abi.ET_EXEC}
	switch {
	case string(e.Ident[:4]) != "\x7fELF":
		return nil, corrupt("not an ELF file")
	case string(e.Ident[:7]) != string(abi.ELFIdent[:7]) || e.Version != 1:
		return nil, corrupt("not an ELF file of 64 bits, little-endian, version 1")
	case e.Machine != abi.EM_X86_64:
		return nil, corrupt("for another processor: machine %d, not %d (x86-64)", e.Machine, abi.EM_X86_64)
	case e.Type != abi.ET_EXEC && e.Type != abi.ET_DYN:
		return nil, corrupt("ELF of type %d is not a program", e.Type)
	case e.Phentsize != segmentSize:
		return nil, corrupt("program headers of %d bytes, not %d", e.Phentsize, segmentSize)
	case h.segments == 0 || h.segments > maxSegments:
		return nil, corrupt("%d program headers", h.segments)
	case !within(f, h.phoff, uint64(h.segments)*segmentSize):
		return nil, corrupt("the program headers at %#x are beyond the file's end", h.phoff)
	}
	return h, h.readSegments()
}

func (h *header) readSegments() error {
	b := make([]byte, h.segments*segmentSize)
	if err := readAt(h.file, b, h.phoff); err != nil {
		return err
	}
	all := make([]segment, h.segments)
	if err := binary.Read(bytes.NewReader(b), binary.LittleEndian, all); err != nil {
		return corrupt("program headers: %v", err)
	}
	h.align = page
	for i := range all {
		if err := h.take(&all[i]); err != nil {
			return err
		}
	}
	return h.checkLoads()
}

// take notes what a segment says.
func (h *header) take(g *segment) error {
	switch g.Type {
	case abi.PT_LOAD:
		if g.MemSize == 0 {
			return nil
		}
		h.loads = append(h.loads, *g)
		return h.checkLoad(g, len(h.loads)-1)
	case abi.PT_INTERP:
		if h.interp != "" {
			return corrupt("two interpreters")
		}
		return h.readInterp(g)
	case abi.PT_PHDR:
		h.phdr = g.VAddr
	case abi.PT_GNU_STACK:
		h.stackFlags = g.Flags
	}
	return nil
}

func (h *header) readInterp(g *segment) error {
	if g.FileSize < 2 || g.FileSize > maxPath || !within(h.file, g.Offset, g.FileSize) {
		return corrupt("the interpreter's name has %d bytes at %#x", g.FileSize, g.Offset)
	}
	b := make([]byte, g.FileSize)
	if err := readAt(h.file, b, g.Offset); err != nil {
		return err
	}
	name, rest, ended := strings.Cut(string(b), "\x00")
	if !ended || rest != "" || name == "" {
		return corrupt("the interpreter's name is not one string")
	}
	h.interp = name
	return nil
}

// checkLoad checks a segment by itself; it is number i of those that are loaded.
func (h *header) checkLoad(g *segment, i int) error {
	const top = 1 << 47
	switch {
	case g.FileSize > g.MemSize:
		return corrupt("segment %d has %#x bytes in the file and %#x in memory", i, g.FileSize, g.MemSize)
	case !within(h.file, g.Offset, g.FileSize):
		return corrupt("segment %d, %#x bytes at %#x, is beyond the file's end", i, g.FileSize, g.Offset)
	case g.VAddr >= top || g.MemSize > top-g.VAddr:
		return corrupt("segment %d, %#x bytes at address %#x, is too large", i, g.MemSize, g.VAddr)
	case g.VAddr%page != g.Offset%page:
		return corrupt("segment %d: address %#x and offset %#x differ within a page", i, g.VAddr, g.Offset)
	case g.Align&(g.Align-1) != 0 || g.Align > maxAlign:
		return corrupt("segment %d: alignment %#x", i, g.Align)
	}
	h.align = max(h.align, g.Align)
	return nil
}

// checkLoads checks the segments that are loaded against each other.
func (h *header) checkLoads() error {
	if len(h.loads) == 0 {
		return corrupt("nothing to load")
	}
	executable := false
	for i := range h.loads {
		g := &h.loads[i]
		if h.entry >= g.VAddr && h.entry < g.end() && g.prot()&space.Exec != 0 {
			executable = true
		}
		if g.Offset <= h.phoff && h.phoff < g.Offset+g.FileSize && h.phdr == 0 {
			h.phdr = g.VAddr + h.phoff - g.Offset
		}
		if i == 0 {
			continue
		}
		before := &h.loads[i-1]
		switch {
		case g.VAddr < before.end():
			return corrupt("segment %d at %#x overlaps the one before, or is below it", i, g.VAddr)
		case g.VAddr&^(page-1) < roundUp(before.end()) &&
			(g.VAddr-g.Offset != before.VAddr-before.Offset || before.MemSize != before.FileSize || g.FileSize == 0):
			return corrupt("segments %d and %d share the page at %#x, and not in the file", i-1, i, g.VAddr&^(page-1))
		}
	}
	if !executable {
		return corrupt("the entry %#x is in no segment that may be executed", h.entry)
	}
	return nil
}

func roundUp(n uint64) uint64 { return (n + page - 1) &^ (page - 1) }
