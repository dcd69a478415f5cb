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
	"sonde/boot/cmdline"
	"sonde/boot/handoff"
	"sonde/kernel/cpu"
	"sonde/kernel/mm"
)

// Memory before the runtime: a few pieces are taken, after the image if there is space, and
// buildMemory gives the rest to the heap.

var areas [trap.MaxCPUs]trap.Area

// busy is the memory that the heap must not get: the image first, then what take has returned.
var (
	busy  [8]handoff.Span
	nBusy int
)

const (
	rx  = 0
	ro  = amd64.PTE_NX | amd64.PTE_G
	rw  = amd64.PTE_NX | amd64.PTE_G | amd64.PTE_W
	dev = rw | amd64.PTE_PCD
)

// take returns n zeroed bytes, whole pages, at a multiple of align. All of them are within 2 GiB of
// the image: displacements have 32 bits.
func take(n, align uintptr) uintptr {
	n = (n + pageSize - 1) &^ (pageSize - 1)
	image := busy[0]
	pa, ok := loader.Find(image.PA+image.Len, nearEnd, uint64(n), uint64(align), busy[:nBusy])
	if !ok {
		pa, ok = loader.Find(lowEnd, nearEnd, uint64(n), uint64(align), busy[:nBusy])
	}
	if !ok {
		fatal("not enough memory in one piece below 2 GiB", uint64(n))
	}
	busy[nBusy] = handoff.Span{PA: pa, Len: uint64(n)}
	nBusy++
	memory().Zero(pa, uint64(n))
	return kernelBase + uintptr(pa)
}

// memory is physical memory, as boot's tables map it.
func memory() phys.Mem { return phys.At(directBase, bootMapped) }

// near is the physical memory that take gives, and the image's, on all tables.
func near() phys.Mem { return phys.At(kernelBase, nearEnd) }

// findImage reads the addresses of the image's parts from the ELF header that is loaded in front of
// the text.
func findImage() {
	m := near()
	base := uint64(textStart())&^(pageSize-1) - kernelBase
	for m.Read32(base) != 0x464c457f { // "\x7fELF"
		base -= pageSize
	}
	ph, end := base+m.Read64(base+32), base
	for i := uint64(0); i < uint64(m.Read16(base+56)); i++ {
		e := ph + i*uint64(m.Read16(base+54))
		if m.Read32(e) != 1 { // PT_LOAD
			continue
		}
		start := m.Read64(e + 16)
		r := mm.Range{Start: uintptr(start), End: uintptr(start+m.Read64(e+40)+pageSize-1) &^ (pageSize - 1)}
		if pa := start - kernelBase; !loader.HasRAM(handoff.Span{PA: pa, Len: uint64(r.End) - start}) {
			fatal("a part of the image is not in memory", pa)
		}
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
		end = max(end, uint64(r.End)-kernelBase)
	}
	busy[0] = handoff.Span{PA: base, Len: end - base}
	nBusy = 1
}

// buildMemory maps everything (layout_tamago.go), gives the runtime its heap,
// and switches to the new tables.
func buildMemory(info *handoff.Info, lapic uint64) {
	t := &mm.Tables
	t.Mem = near()
	tables := take(tablesBytes, pageSize)
	t.Next = uint64(tables) - kernelBase
	t.End = t.Next + tablesBytes
	area := take(uintptr(cpu.Num())*trap.AreaSize, pageSize) - kernelBase
	for i := range uintptr(cpu.Num()) {
		areas[i] = trap.Layout(directBase + area + i*trap.AreaSize)
	}
	descriptors := take(trap.TablesSize, pageSize)
	stubs := trap.BuildTables(descriptors)
	slots := take(mm.SlotBytes+mm.MadeBytes, hugePage)
	mm.Slots = mm.Range{Start: slots, End: slots + mm.SlotBytes}
	mm.Made = mm.Range{Start: mm.Slots.End, End: mm.Slots.End + mm.MadeBytes}
	for i := mm.Slots.Start; i < mm.Made.End; i += 8 {
		*(*uint64)(unsafe.Pointer(i)) = insn.OpInt3 * 0x0101010101010101 // Safe because: take reserved it
	}

	direct(pageSize, lowEnd, rw)
	image(mm.Text.Start, mm.Text.End, rx)
	image(mm.ROData.Start, mm.ROData.End, ro)
	image(mm.Data.Start, mm.Data.End, rw)
	if mm.Symbols.Start != 0 {
		image(mm.Symbols.Start, mm.Symbols.End, ro)
	}
	image(tables, tables+tablesBytes, rw)
	direct(uint64(area), uint64(area)+uint64(cpu.Num())*trap.AreaSize, rw)
	image(descriptors, descriptors+trap.TablesSize, rw)
	image(mm.Slots.Start, mm.Made.End, rx)
	check(t.Protect(uint64(stubs), pageSize, rx), uint64(stubs))
	direct(devices, devicesEnd, dev)
	if lapic < devices || lapic >= devicesEnd {
		direct(lapic, lapic+pageSize, dev)
	}
	mapIOAPICs(lapic)
	alias(mm.Text)
	alias(mm.Range{Start: mm.Slots.Start, End: mm.Made.End})
	mapModules(info)
	mapScreen()
	mapConsoles()
	mapRecorder()
	mm.AliasOffset, mm.Layout, mm.Window = aliasOffset, layout[:], windowBase
	mm.Devices = mm.Range{Start: registerBase, End: recorderBase}
	guards()
	giveHeap(info)
	kernelCR3 = uint32(t.Root)
	cpu.WriteCR3(t.Root)
	moveScreen()
	moveConsoles()
	moveRecorder()
	if _, ok := cmdline.Get(commandLine(), "memtest"); ok {
		testMemory()
	}
}

// image maps a part of the image, or of what take has given, where it is.
func image(start, end uintptr, flags uint64) {
	check(mm.Tables.Map(uint64(start), uint64(start)-kernelBase, uint64(end-start), flags), uint64(start))
}

// direct maps [pa,end) at directBase.
func direct(pa, end, flags uint64) { check(mm.Tables.Map(directBase+pa, pa, end-pa, flags), pa) }

// mapIOAPICs maps the I/O APICs that are not where devices usually are: large machines have one for each
// root of PCI.
func mapIOAPICs(lapic uint64) {
	m := &acpiInfo.MADT
	for i := range m.NIOAPIC {
		if pa, first := m.Page(i, pageSize); first && pa < devices && pa != lapic {
			direct(pa, pa+pageSize, dev)
		}
	}
}

// aliasOffset leads from an address of the image to its alias, modulo 2⁶⁴.
const aliasOffset = 1<<64 - kernelBase + aliasBase

func alias(r mm.Range) {
	pa := uint64(r.Start) - kernelBase
	check(mm.Tables.Map(aliasBase+pa, pa, uint64(r.End-r.Start), rw), pa)
}

// modules are the files that the loader has loaded besides the image; empty if they cannot be
// mapped.
var modules [handoff.MaxModules]mm.Range

// mapModules maps the modules read-only. They are sorted; two of them may share a page.
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

// giveHeap maps the remaining memory contiguously at heapBase, in 2 MiB pages.
func giveHeap(info *handoff.Info) {
	va := uint64(heapBase)
	for i := 0; i < info.NMap; i++ {
		if r := info.Map[i]; r.Type == handoff.RAM {
			mm.RAM += r.Len
			va = giveRange(info, va, max(r.PA, lowEnd), r.PA+r.Len)
		}
	}
	setHeap(va)
}

// setHeap sets the end of the heap to va.
func setHeap(va uint64) {
	mm.Usable = va - heapBase
	mm.Heap = mm.Range{Start: heapBase, End: uintptr(va)}
	goos.RamStart, goos.RamSize = heapBase, uint(va-heapBase)
}

// giveRange maps the 2 MiB pages in [start,end) at va, except those in use, and returns the address
// after them.
func giveRange(info *handoff.Info, va, start, end uint64) uint64 {
	for pa := (start + hugePage - 1) &^ (hugePage - 1); pa+hugePage <= end; pa += hugePage {
		if _, taken := info.InUse(pa, hugePage, busy[:nBusy]); taken {
			continue
		}
		if c := mm.Tables.Map(va, pa, hugePage, rw); c == paging.OutOfPages {
			untabled += end - pa
			return va
		} else {
			check(c, pa)
		}
		va += hugePage
	}
	return va
}

// untabled is the size in bytes of memory for which page tables are missing.
var untabled uint64

// check ends the boot if the page tables cannot be built.
func check(c paging.Code, addr uint64) {
	if c != paging.OK {
		fatal(string(c), addr)
	}
}
