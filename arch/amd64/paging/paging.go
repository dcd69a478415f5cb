// Package paging builds 4-level page tables in physical memory.
//
// Table pages come from a bump allocator and are never freed: a kernel's own map only
// grows, and there is no other allocator when it is built. Nothing here allocates Go memory
// or touches CR3 and the TLB: callers that change tables in use must invalidate afterwards,
// on all CPUs.
//
// Each change is checked over its whole range first. It is made completely or, with any
// Code but OK, not at all; but a large page may have been split, which translates the same.
// Not safe for concurrent use.
//
// Source: Intel SDM vol. 3A, "4-Level Paging and 5-Level Paging".
package paging

import (
	"sonde/arch/amd64"
	"sonde/arch/amd64/phys"
)

const (
	PageSize = 4 << 10
	BigSize  = 2 << 20

	// Flags are the bits that a caller may set; P and PS are set here.
	Flags = amd64.PTE_W | amd64.PTE_U | amd64.PTE_PWT | amd64.PTE_PCD |
		amd64.PTE_A | amd64.PTE_D | amd64.PTE_G | amd64.PTE_NX

	entries = 512
	topPA   = amd64.PTE_ADDR + PageSize // 2⁵²
	top     = 3                         // level of the root; 0 is the last
	big     = 1                         // level of 2 MiB pages
)

// Code says how an operation ended, in words.
type Code string

const (
	OK           Code = ""
	Unaligned    Code = "address or size is not a whole number of pages"
	NonCanonical Code = "range is not canonical"
	BadPhysical  Code = "physical range is beyond 52 bits"
	BadFlags     Code = "flags the caller may not set"
	Overlap      Code = "range overlaps an existing mapping"
	NotMapped    Code = "part of the range is not mapped"
	OutOfPages   Code = "no page left for a table"
)

// Tables is one address space. Root may be the root of existing tables; if it is 0, the first Map
// makes one.
type Tables struct {
	Mem       phys.Mem
	Root      uint64
	Next, End uint64 // region for table pages; Next moves up
}

// Map makes [va,va+size) translate to [pa,pa+size), by 2 MiB pages wherever va, pa and the
// remaining size allow.
//
// Errors: Unaligned, NonCanonical, BadPhysical, BadFlags, Overlap, OutOfPages.
func (t *Tables) Map(va, pa, size, flags uint64) Code {
	if c := checkRange(va, size, flags); c != OK {
		return c
	}
	if pa%PageSize != 0 {
		return Unaligned
	}
	if size > topPA || pa > topPA-size {
		return BadPhysical
	}
	if t.Root == 0 {
		if t.Root = t.newPage(); t.Root == 0 {
			return OutOfPages
		}
	}
	if !t.all(va, size, false) {
		return Overlap
	}
	for off := uint64(0); off < size; {
		level := uint(0)
		if (va+off)%BigSize == 0 && (pa+off)%BigSize == 0 && size-off >= BigSize {
			level = big
		}
		slot, level := t.descend(va+off, level, flags)
		if slot == 0 {
			t.clear(va, off)
			return OutOfPages
		}
		t.Mem.Write64(slot, pa+off|flags|leaf(level))
		off += span(level)
	}
	return OK
}

// Unmap removes [va,va+size), all of which must be mapped.
//
// Errors: Unaligned, NonCanonical, NotMapped, OutOfPages (to split a page).
func (t *Tables) Unmap(va, size uint64) Code {
	if c := t.prepare(va, size, 0); c != OK {
		return c
	}
	t.clear(va, size)
	return OK
}

// Protect gives [va,va+size), all of which must be mapped, new flags. Large
// pages that reach beyond the range are split.
//
// Errors: as Unmap, and BadFlags.
func (t *Tables) Protect(va, size, flags uint64) Code {
	if c := t.prepare(va, size, flags); c != OK {
		return c
	}
	// The processor may have set these meanwhile; losing D loses data.
	const keep = amd64.PTE_A | amd64.PTE_D
	for off := uint64(0); off < size; {
		slot, level, e := t.walk(va + off)
		t.Mem.Write64(slot, e&(addrMask(level)|keep)|flags|leaf(level))
		t.allow(va+off, level, flags)
		off += span(level)
	}
	return OK
}

// Lookup returns the translation of va, and the flags of its entry, PTE_P and PTE_PS included.
func (t *Tables) Lookup(va uint64) (pa, flags uint64, ok bool) {
	if !canonical(va) {
		return 0, 0, false
	}
	_, level, e := t.walk(va)
	if e&amd64.PTE_P == 0 {
		return 0, 0, false
	}
	flags = e & (Flags | amd64.PTE_P | amd64.PTE_PS)
	if level == 0 {
		flags &^= amd64.PTE_PS // the PAT bit there
	}
	return e&addrMask(level) | va&(span(level)-1), flags, true
}
