// Package core writes core files: what a process was when a signal ended it, for debuggers. It
// knows nothing of processes and files: the caller says what is to be written, and where to.
//
// A file has a header for each area of memory, notes about the process and its threads, and the
// pages. A page that is not in memory, or only zeroes, is a hole in the file.
//
// Source: Linux, core(5); fs/binfmt_elf.c, elf_core_dump. System V ABI, "Program Header".
package core

import (
	"encoding/binary"
	"io"
	"syscall"

	"sonde/kernel/abi"
	"sonde/kernel/refusal"
	"sonde/linux/space"
)

const page = space.PageSize

// Dump is what a core file says.
type Dump struct {
	Signal                      abi.Siginfo // that ended the process
	PID, Parent, Group, Session int
	Nice                        int
	Name, Args                  string
	Auxv                        []byte
	Threads                     []Thread // the one that took the signal first
	Areas                       []space.Dumped
	// Page reads the first page that is in memory from addr on and below end, and returns its
	// address; false: there is none.
	Page func(to *[page]byte, addr, end uint64) (at uint64, ok bool)
}

const mostAreas = 0xffff - 2 // PN_XNUM and the notes' segment

// Write writes the file, of which the bytes beyond limit are left out, and returns its size. It may
// end in a hole, which is not written.
//
// Errors: E2BIG there are too many areas, and those of w.
func (d *Dump) Write(w io.WriterAt, limit int64) (size int64, err error) {
	if len(d.Areas) > mostAreas {
		return 0, refusal.New(syscall.E2BIG, "%d areas, more than %d", len(d.Areas), mostAreas)
	}
	head, off := d.head()
	o := &bounded{w: w, limit: limit}
	o.put(head, 0)
	for i := range d.Areas {
		d.pages(o, &d.Areas[i], off)
		off += int64(d.Areas[i].Size)
	}
	return min(off, limit), o.err
}

// pages writes those of an area at off.
func (d *Dump) pages(o *bounded, a *space.Dumped, off int64) {
	var p, zeroes [page]byte
	end := a.Start + min(a.Size, uint64(max(o.limit-off, 0)))
	for addr := a.Start; addr < end && o.err == nil; addr += page {
		at, ok := d.Page(&p, addr, end)
		if !ok {
			return
		}
		if addr = at; p != zeroes {
			o.put(p[:], off+int64(at-a.Start))
		}
	}
}

// bounded writes what is below a limit, until the first error.
type bounded struct {
	w     io.WriterAt
	limit int64
	err   error
}

func (o *bounded) put(b []byte, off int64) {
	if o.err == nil && off < o.limit {
		_, o.err = o.w.WriteAt(b[:min(int64(len(b)), o.limit-off)], off)
	}
}

// head makes what is before the pages, and returns where these begin.
func (d *Dump) head() (b []byte, pages int64) {
	n := 1 + len(d.Areas)
	notes := d.notes()
	at := abi.ELFHeaderSize + n*abi.ELFSegmentSize
	pages = int64(at+len(notes)+page-1) &^ (page - 1)
	b = make([]byte, 0, at+len(notes))
	b = append(b, abi.Bytes(&abi.ELFHeader{
		Ident: abi.ELFIdent, Type: abi.ET_CORE, Machine: abi.EM_X86_64, Version: 1,
		Phoff: abi.ELFHeaderSize, Ehsize: abi.ELFHeaderSize, Phentsize: abi.ELFSegmentSize, Phnum: uint16(n),
	})...)
	b = segment(b, abi.ELFSegment{Type: abi.PT_NOTE, Offset: uint64(at), FileSize: uint64(len(notes)), Align: 4})
	off := uint64(pages)
	for i := range d.Areas {
		a := &d.Areas[i]
		b = segment(b, abi.ELFSegment{Type: abi.PT_LOAD, Flags: access(a.Prot), Offset: off, VAddr: a.Start, FileSize: a.Size, MemSize: a.End - a.Start, Align: page})
		off += a.Size
	}
	return append(b, notes...), pages
}

func segment(b []byte, s abi.ELFSegment) []byte { return append(b, abi.Bytes(&s)...) }

// access is the flags of a segment.
func access(p space.Prot) (flags uint32) {
	for _, f := range []struct {
		of   space.Prot
		flag uint32
	}{{space.Read, abi.PF_R}, {space.Write, abi.PF_W}, {space.Exec, abi.PF_X}} {
		if p&f.of != 0 {
			flags |= f.flag
		}
	}
	return flags
}

func words32(b []byte, all ...uint32) []byte {
	for _, w := range all {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}

func words64(b []byte, all ...uint64) []byte {
	for _, w := range all {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}
