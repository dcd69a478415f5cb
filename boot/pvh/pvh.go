// Package pvh reads what a PVH loader (QEMU -kernel, Xen) leaves in EBX:
// hvm_start_info with the command line, the RSDP and the memory map.
//
// It runs before the Go runtime does: no allocation, and the result is filled
// into a variable of the caller's because the boot stack is small.
//
// Source: Xen public headers, xen/include/public/arch-x86/hvm/start_info.h.
package pvh

import "sonde/arch/amd64/phys"

// Magic is the first word of hvm_start_info ("xEn3" with the top bit set).
const Magic = 0x336ec578

const (
	MaxCmdline = 4096 // bytes looked at for the terminating NUL
	MaxRegions = 64
	MaxModules = 4
	maxEntries = 512 // of the loader's map, before merging
	headV0     = 40  // bytes of hvm_start_info, version 0
	headV1     = 56
	moduleSize = 32
)

// Code says how Parse ended.
type Code uint8

const (
	OK Code = iota
	BadAddress
	BadMagic
	BadMap
	TooManyEntries
)

// String returns the reason in words.
func (c Code) String() string {
	switch c {
	case OK:
		return "ok"
	case BadAddress:
		return "start info is outside memory"
	case BadMagic:
		return "start info has the wrong magic"
	case BadMap:
		return "memory map is outside memory"
	case TooManyEntries:
		return "memory map has too many entries"
	}
	return "unknown"
}

// Type is the kind of a Region, numbered as in E820.
type Type uint32

const (
	RAM Type = 1 + iota
	Reserved
	ACPI // tables, RAM once they have been read
	NVS
	Unusable
	Disabled
	PMEM
)

// Span is Len bytes at physical address PA.
type Span struct{ PA, Len uint64 }

// Region is a Span of the memory map.
type Region struct {
	Span
	Type Type
}

// Info is what the loader said. Cmdline and Modules lie in memory that the
// Map calls RAM: who hands out pages must keep them (and the ACPI tables).
type Info struct {
	Version   uint32
	Flags     uint32
	Cmdline   Span
	RSDP      uint64 // 0 if the loader gave none
	Modules   [MaxModules]Span
	NModules  int
	Map       [MaxRegions]Region // sorted, no overlaps, neighbours merged
	NMap      int
	Truncated bool // more regions, modules or command line than fit
}

// Parse reads the hvm_start_info at pa into out. What does not fit is left
// out and Truncated is set; a page that is not in Map is never RAM, so a
// truncated map is still a safe one.
//
// Errors: see Code; out then holds what was read before.
func Parse(mem phys.Mem, pa uint64, out *Info) Code {
	*out = Info{}
	if !mem.Has(pa, headV0) {
		return BadAddress
	}
	if mem.Read32(pa) != Magic {
		return BadMagic
	}
	out.Version = mem.Read32(pa + 4)
	out.Flags = mem.Read32(pa + 8)
	out.RSDP = mem.Read64(pa + 32)
	readCmdline(mem, mem.Read64(pa+24), out)
	readModules(mem, mem.Read64(pa+16), mem.Read32(pa+12), out)
	if out.Version == 0 {
		return OK
	}
	if !mem.Has(pa, headV1) {
		return BadAddress
	}
	in := rawMap{mem, mem.Read64(pa + 40), uint64(mem.Read32(pa + 48))}
	if in.n > maxEntries {
		return TooManyEntries // an unread entry may reserve what another calls RAM
	}
	if !mem.Has(in.pa, in.n*entrySize) {
		return BadMap
	}
	in.resolve(out)
	return OK
}

// readCmdline finds the length of the NUL-terminated string at pa.
func readCmdline(mem phys.Mem, pa uint64, out *Info) {
	if pa == 0 || !mem.Has(pa, 1) {
		return
	}
	n := uint64(0)
	for n < MaxCmdline && mem.Has(pa+n, 1) && mem.Read8(pa+n) != 0 {
		n++
	}
	out.Cmdline = Span{pa, n}
	out.Truncated = out.Truncated || n == MaxCmdline
}

func readModules(mem phys.Mem, pa uint64, n uint32, out *Info) {
	for i := uint64(0); i < uint64(n); i++ {
		if i == MaxModules || !mem.Has(pa, (i+1)*moduleSize) {
			out.Truncated = true
			return
		}
		e := pa + i*moduleSize
		out.Modules[i] = Span{mem.Read64(e), mem.Read64(e + 8)}
		out.NModules++
	}
}
