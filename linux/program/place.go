package program

import (
	"syscall"

	"sonde/kernel/abi"
	"sonde/kernel/refusal"
)

const pageSize = 4096

// segment returns the segment that addr is in.
func (f *File) segment(addr uint64) *abi.ELFSegment {
	for i := range f.elf.segments {
		if p := &f.elf.segments[i]; p.Type == abi.PT_LOAD && addr >= p.VAddr && addr-p.VAddr < p.FileSize {
			return p
		}
	}
	return nil
}

// Offset returns where in the file the byte is that stands at addr.
func (f *File) Offset(addr uint64) (off uint64, ok bool) {
	p := f.segment(addr)
	if p == nil {
		return 0, false
	}
	return addr - p.VAddr + p.Offset, true
}

// Vaddr returns the address of the code that is at an offset.
func (f *File) Vaddr(off uint64) (addr uint64, ok bool) {
	for _, p := range f.elf.segments {
		if p.Type == abi.PT_LOAD && p.Flags&abi.PF_X != 0 && off >= p.Offset && off-p.Offset < p.FileSize {
			return off - p.Offset + p.VAddr, true
		}
	}
	return 0, false
}

// Bias returns what is to be added to the file's addresses, where its code at offset off
// is mapped at start, as in /proc/PID/maps. off may begin before the code, in the same page.
func (f *File) Bias(start, off uint64) (bias uint64, ok bool) {
	for _, p := range f.elf.segments {
		if p.Type == abi.PT_LOAD && p.Flags&abi.PF_X != 0 && off >= p.Offset&^(pageSize-1) && off < p.Offset+p.FileSize {
			return start - (off - p.Offset + p.VAddr), true
		}
	}
	return 0, false
}

// Code returns n bytes of what stands at addr, in one segment.
//
// Errors: EFAULT they are not all in the file.
func (f *File) Code(addr, n uint64) ([]byte, error) {
	p := f.segment(addr)
	if p == nil || n > p.FileSize-(addr-p.VAddr) {
		return nil, refusal.New(syscall.EFAULT, "%d bytes at %#x are not in the file", n, addr)
	}
	b, err := f.elf.read(p.Offset+addr-p.VAddr, n)
	if err != nil {
		return nil, refusal.New(syscall.EFAULT, "%v", err)
	}
	return b, nil
}
