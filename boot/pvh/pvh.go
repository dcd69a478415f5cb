// Package pvh reads the hvm_start_info that a PVH loader (QEMU -kernel, Xen) leaves in EBX
// into a handoff.Info.
//
// It runs before the Go runtime does and allocates nothing.
//
// Source: Xen public headers, xen/include/public/arch-x86/hvm/start_info.h.
package pvh

import (
	"sonde/arch/amd64/phys"
	"sonde/boot/handoff"
)

// Magic is the first word of hvm_start_info ("xEn3" with the top bit set).
const Magic = 0x336ec578

const (
	maxEntries = 512 // of the loader's map, before merging
	headV0     = 40  // bytes of hvm_start_info, version 0
	headV1     = 56
	moduleSize = 32
	entrySize  = 24 // hvm_memmap_table_entry: addr, size uint64; type, reserved uint32
)

// Code says how Parse ended, in words.
type Code string

const (
	OK             Code = ""
	BadAddress     Code = "start info is outside memory"
	BadMagic       Code = "start info has the wrong magic"
	BadMap         Code = "memory map is outside memory"
	TooManyEntries Code = "memory map has too many entries"
)

// Parse reads the hvm_start_info at pa into out.
//
// Errors: see Code; out then has what was read before.
func Parse(mem phys.Mem, pa uint64, out *handoff.Info) Code {
	*out = handoff.Info{}
	if !mem.Has(pa, headV0) {
		return BadAddress
	}
	if mem.Read32(pa) != Magic {
		return BadMagic
	}
	out.RSDP = mem.Read64(pa + 32)
	readCmdline(mem, mem.Read64(pa+24), out)
	readModules(mem, mem.Read64(pa+16), mem.Read32(pa+12), out)
	if mem.Read32(pa+4) == 0 { // version 0 has no map
		return OK
	}
	if !mem.Has(pa, headV1) {
		return BadAddress
	}
	table, n := mem.Read64(pa+40), uint64(mem.Read32(pa+48))
	if n > maxEntries {
		return TooManyEntries // an unread entry may reserve what another calls RAM
	}
	if !mem.Has(table, n*entrySize) {
		return BadMap
	}
	out.SetMap(n, func(i uint64) handoff.Region {
		e := table + i*entrySize
		return handoff.Region{
			Span: handoff.Span{PA: mem.Read64(e), Len: mem.Read64(e + 8)},
			Type: handoff.Type(mem.Read32(e + 16)),
		}
	})
	return OK
}

// readCmdline finds the length of the NUL-terminated string at pa.
func readCmdline(mem phys.Mem, pa uint64, out *handoff.Info) {
	if pa == 0 || !mem.Has(pa, 1) {
		return
	}
	n := uint64(0)
	for n < handoff.MaxCmdline && mem.Has(pa+n, 1) && mem.Read8(pa+n) != 0 {
		n++
	}
	out.Cmdline = handoff.Span{PA: pa, Len: n}
	out.Truncated = out.Truncated || n == handoff.MaxCmdline
}

func readModules(mem phys.Mem, pa uint64, n uint32, out *handoff.Info) {
	for i := uint64(0); i < uint64(n); i++ {
		if i == handoff.MaxModules || !mem.Has(pa, (i+1)*moduleSize) {
			out.Truncated = true
			return
		}
		e := pa + i*moduleSize
		out.AddModule(handoff.Span{PA: mem.Read64(e), Len: mem.Read64(e + 8)})
	}
}
