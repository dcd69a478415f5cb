package program

import (
	"debug/elf"
	"io"
	"syscall"

	"sonde/kernel/probe"
)

const pageSize = 4096

// segment returns the segment that addr is in.
func (f *File) segment(addr uint64) *elf.Prog {
	for _, p := range f.elf.Progs {
		if p.Type == elf.PT_LOAD && addr >= p.Vaddr && addr-p.Vaddr < p.Filesz {
			return p
		}
	}
	return nil
}

// Offset returns where in the file the byte is that stands at addr.
//
// Context: goroutine.
func (f *File) Offset(addr uint64) (off uint64, ok bool) {
	p := f.segment(addr)
	if p == nil {
		return 0, false
	}
	return addr - p.Vaddr + p.Off, true
}

// Vaddr returns the address of the code that is at an offset.
//
// Context: goroutine.
func (f *File) Vaddr(off uint64) (addr uint64, ok bool) {
	for _, p := range f.elf.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 && off >= p.Off && off-p.Off < p.Filesz {
			return off - p.Off + p.Vaddr, true
		}
	}
	return 0, false
}

// Bias returns what is to be added to the file's addresses, where its code at offset off
// is mapped at start, as in /proc/PID/maps. off may begin before the code, in the same page.
//
// Context: goroutine.
func (f *File) Bias(start, off uint64) (bias uint64, ok bool) {
	for _, p := range f.elf.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 && off >= p.Off&^(pageSize-1) && off < p.Off+p.Filesz {
			return start - (off - p.Off + p.Vaddr), true
		}
	}
	return 0, false
}

// Code returns n bytes of what stands at addr, in one segment.
//
// Context: goroutine.
// Errors: EFAULT they are not all in the file.
func (f *File) Code(addr, n uint64) ([]byte, error) {
	p := f.segment(addr)
	if p == nil || n > p.Filesz-(addr-p.Vaddr) {
		return nil, probe.Refuse(syscall.EFAULT, "%d bytes at %#x are not in the file", n, addr)
	}
	b := make([]byte, n)
	if _, err := p.ReadAt(b, int64(addr-p.Vaddr)); err != nil && err != io.EOF {
		return nil, err
	}
	return b, nil
}
