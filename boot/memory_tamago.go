//go:build tamago

package main

import (
	"runtime/goos"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/insn"
	"sonde/arch/amd64/paging"
	"sonde/arch/amd64/phys"
	"sonde/arch/amd64/trap"
	"sonde/boot/handoff"
	"sonde/kernel/cpu"
	"sonde/kernel/mm"
)

// Memory before the runtime: what follows the image is given out from the
// bottom, page by page, until buildMemory hands the rest to the heap.

var areas [trap.MaxCPUs]trap.Area

// next and limit bound what is left of the memory behind the image.
var next, limit uintptr

const (
	rx  = 0
	ro  = amd64.PTE_NX | amd64.PTE_G
	rw  = amd64.PTE_NX | amd64.PTE_G | amd64.PTE_W
	dev = rw | amd64.PTE_PCD
)

// take returns n zeroed bytes, whole pages.
func take(n uintptr) uintptr {
	n = (n + pageSize - 1) &^ (pageSize - 1)
	if n > limit-next {
		fatal("not enough memory behind the image", uint64(n))
	}
	p := next
	next += n
	phys.Identity(bootMapped).Zero(uint64(p), uint64(n))
	return p
}

// findImage learns where the linker put what, from the ELF header that is
// loaded in front of the text.
func findImage() {
	m := phys.Identity(bootMapped)
	base := uint64(textStart()) &^ (pageSize - 1)
	for m.Read32(base) != 0x464c457f { // "\x7fELF"
		base -= pageSize
	}
	ph := base + m.Read64(base+32)
	for i := uint64(0); i < uint64(m.Read16(base+56)); i++ {
		e := ph + i*uint64(m.Read16(base+54))
		if m.Read32(e) != 1 { // PT_LOAD
			continue
		}
		start := m.Read64(e + 16)
		r := mm.Range{Start: uintptr(start), End: uintptr(start+m.Read64(e+40)+pageSize-1) &^ (pageSize - 1)}
		switch flags := m.Read32(e + 4); {
		case flags&1 != 0:
			mm.Text = r
		case flags&2 != 0:
			mm.Data = r
		case mm.ROData.Start == 0:
			mm.ROData = r
		default:
			mm.Symbols = r
		}
		next = max(next, r.End)
	}
}

// buildMemory maps everything (layout_tamago.go), gives the runtime its heap,
// and switches to the new tables.
func buildMemory(info *handoff.Info, lapic uint64) {
	t := &mm.Tables
	t.Mem = phys.Identity(bootMapped)
	t.Next = uint64(take(tablesBytes))
	t.End = t.Next + tablesBytes
	for i := 0; i < cpu.Num(); i++ {
		areas[i] = trap.Layout(take(trap.AreaSize))
	}
	tables := take(trap.TablesSize)
	stubs := trap.BuildTables(tables)
	next = (next + hugePage - 1) &^ (hugePage - 1)
	mm.Slots = mm.Range{Start: take(mm.SlotBytes), End: next}
	for i := mm.Slots.Start; i < mm.Slots.End; i += 8 {
		*(*uint64)(unsafe.Pointer(i)) = insn.OpInt3 * 0x0101010101010101 // Safe because: take gave it to us
	}

	identity(pageSize, lowEnd, rw)
	identity(mm.Text.Start, mm.Text.End, rx)
	identity(mm.ROData.Start, mm.ROData.End, ro)
	identity(mm.Data.Start, mm.Data.End, rw)
	if mm.Symbols.Start != 0 {
		identity(mm.Symbols.Start, mm.Symbols.End, ro)
	}
	behind := max(mm.Data.End, mm.Symbols.End)
	identity(behind, mm.Slots.Start, rw)
	identity(mm.Slots.Start, mm.Slots.End, rx)
	check(t.Protect(uint64(stubs), pageSize, rx), uint64(stubs))
	identity(devices, devicesEnd, dev)
	if lapic < devices || lapic >= devicesEnd {
		identity(uintptr(lapic), uintptr(lapic)+pageSize, dev)
	}
	alias(mm.Text)
	alias(mm.Slots)
	mapModules(info)
	mm.AliasOffset = aliasBase
	guards()
	giveHeap(info)
	kernelCR3 = uint32(t.Root)
	cpu.WriteCR3(t.Root)
}

func identity(start, end uintptr, flags uint64) {
	check(mm.Tables.Map(uint64(start), uint64(start), uint64(end-start), flags), uint64(start))
}

func alias(r mm.Range) {
	check(mm.Tables.Map(aliasBase+uint64(r.Start), uint64(r.Start), uint64(r.End-r.Start), rw), uint64(r.Start))
}

// modules is what the loader has loaded beside the image; empty where it is
// nowhere that can be mapped.
var modules [handoff.MaxModules]mm.Range

// mapModules makes the modules readable. They come in order; two of them may share
// a page.
func mapModules(info *handoff.Info) {
	mapped := uint64(0)
	for i := 0; i < info.NModules; i++ {
		m := info.Modules[i]
		end := m.PA + m.Len
		if m.Len == 0 || end < m.PA || end > heapBase-modulesBase || m.PA&^(pageSize-1)+pageSize < mapped {
			continue
		}
		start := max(m.PA&^(pageSize-1), mapped)
		if last := (end + pageSize - 1) &^ (pageSize - 1); start < last {
			check(mm.Tables.Map(modulesBase+start, start, last-start, ro), start)
			mapped = last
		}
		modules[i] = mm.Range{Start: uintptr(modulesBase + m.PA), End: uintptr(modulesBase + end)}
	}
}

// guards unmaps the page below every stack.
func guards() {
	for i := 0; i < cpu.Num(); i++ {
		for _, g := range areas[i].Guards {
			check(mm.Tables.Unmap(uint64(g), pageSize), uint64(g))
		}
	}
	boot := (uint64(uintptr(unsafe.Pointer(&bootStack))) + pageSize - 1) &^ (pageSize - 1)
	check(mm.Tables.Unmap(boot, pageSize), boot)
}

// giveHeap lines up what memory is left at heapBase, in 2 MiB pages.
func giveHeap(info *handoff.Info) {
	va := uint64(heapBase)
	for i := 0; i < info.NMap; i++ {
		r := info.Map[i]
		if r.Type != handoff.RAM {
			continue
		}
		mm.RAM += r.Len
		start, end := r.PA, r.PA+r.Len
		image := uint64(mm.Text.Start)
		if start < lowEnd {
			start = lowEnd
		}
		if start <= image && image < end { // below the image, then behind it
			va = giveRange(info, va, start, image)
			start = uint64(next)
		}
		va = giveRange(info, va, start, end)
	}
	mm.Usable = va - heapBase
	mm.Heap = mm.Range{Start: heapBase, End: uintptr(va)}
	goos.RamStart, goos.RamSize = heapBase, uint(va-heapBase)
}

// giveRange maps the 2 MiB pages in [start,end) at va, leaving out what the
// loader left there, and returns the address behind them.
func giveRange(info *handoff.Info, va, start, end uint64) uint64 {
	for pa := (start + hugePage - 1) &^ (hugePage - 1); pa+hugePage <= end; pa += hugePage {
		if keep(info, pa) {
			continue
		}
		if c := mm.Tables.Map(va, pa, hugePage, rw); c == paging.OutOfPages {
			return va
		} else {
			check(c, pa)
		}
		va += hugePage
	}
	return va
}

// keep reports whether the page at pa holds something of the loader's.
func keep(info *handoff.Info, pa uint64) bool {
	for i := 0; i < info.NModules; i++ {
		m := info.Modules[i]
		if m.PA < pa+hugePage && m.PA+m.Len > pa {
			return true
		}
	}
	return false
}

// check ends the boot if the page tables cannot be built.
func check(c paging.Code, addr uint64) {
	if c != paging.OK {
		fatal(c.String(), addr)
	}
}
