package elf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"syscall"

	"sonde/linux/space"
)

// Numbers of the format.
// Source: System V ABI, "Object Files"; its AMD64 supplement.
const (
	headerSize  = 64
	segmentSize = 56
	maxSegments = 512
	maxPath     = 4096
	maxAlign    = 1 << 30

	typeExec  = 2
	typeDyn   = 3
	machine64 = 62

	segLoad   = 1
	segInterp = 3
	segPHDR   = 6
	segStack  = 0x6474e551 // PT_GNU_STACK
)

const page = space.PageSize

// A segment is an entry of the program header table.
type segment struct {
	Type, Flags                                    uint32
	Offset, VAddr, PAddr, FileSize, MemSize, Align uint64
}

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

func corrupt(format string, args ...any) error { return refuse(syscall.ENOEXEC, format, args...) }

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
	b := make([]byte, headerSize)
	if !within(f, 0, headerSize) {
		return nil, corrupt("%d bytes are too few for a program", f.Size())
	}
	if err := readAt(f, b, 0); err != nil {
		return nil, err
	}
	le := binary.LittleEndian
	h := &header{file: f, entry: le.Uint64(b[24:]), phoff: le.Uint64(b[32:]), segments: int(le.Uint16(b[56:]))}
	kind := le.Uint16(b[16:])
	h.fixed = kind == typeExec
	switch {
	case string(b[:4]) != "\x7fELF":
		return nil, corrupt("not an ELF file")
	case b[4] != 2 || b[5] != 1 || b[6] != 1 || le.Uint32(b[20:]) != 1:
		return nil, corrupt("not an ELF file of 64 bits, little-endian, version 1")
	case le.Uint16(b[18:]) != machine64:
		return nil, corrupt("for another processor: machine %d, not %d (x86-64)", le.Uint16(b[18:]), machine64)
	case kind != typeExec && kind != typeDyn:
		return nil, corrupt("ELF of type %d is not a program", kind)
	case le.Uint16(b[54:]) != segmentSize:
		return nil, corrupt("program headers of %d bytes, not %d", le.Uint16(b[54:]), segmentSize)
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
	case segLoad:
		if g.MemSize == 0 {
			return nil
		}
		h.loads = append(h.loads, *g)
		return h.checkLoad(g, len(h.loads)-1)
	case segInterp:
		if h.interp != "" {
			return corrupt("two interpreters")
		}
		return h.readInterp(g)
	case segPHDR:
		h.phdr = g.VAddr
	case segStack:
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
