//go:build tamago

package memory

import (
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/paging"
	"sonde/arch/amd64/trap"
	"sonde/kallsyms"
	"sonde/kernel/cpu"
	"sonde/kernel/mm"
	"sonde/kernel/mm/frame"
	"sonde/qemu/suites"
)

func init() {
	suites.Add("memory/nothing_is_writable_and_executable", writeXorExecute)
	suites.Add("memory/only_code_is_executable", onlyCodeIsExecutable)
	suites.Add("memory/nothing_is_mapped_for_ring_3", nothingForRing3)
	suites.Add("memory/no_page_is_mapped_twice", noPageTwice)
	suites.Add("memory/every_cpu_uses_these_tables", everyCPUUsesTheTables)
	suites.Add("memory/stacks_have_guard_pages", stacksHaveGuardPages)
	suites.Add("memory/boot_stack_has_a_guard_page", bootStackHasGuardPage)
}

// A leaf is one mapping, with the rights of the whole path to it.
type leaf struct {
	va, pa, size         uint64
	write, execute, user bool
}

// leaves reads the kernel's page tables themselves, not through package paging.
func leaves() []leaf { return leavesOf(mm.Tables.Root) }

// entryOf reads entry i of the table at pa: one of the kernel's, or a program's.
func entryOf(pa, i uint64) uint64 {
	if p := frame.Kernel.Peek(frame.Frame(pa)); p != nil {
		return frame.Kernel.Words(frame.Frame(pa))[i]
	}
	return mm.Tables.Mem.Read64(pa + i*8)
}

// leavesOf reads any tables.
func leavesOf(root uint64) (all []leaf) {
	var walk func(table, va uint64, level int, path leaf)
	walk = func(table, va uint64, level int, path leaf) {
		for i := range uint64(512) {
			e := entryOf(table, i)
			if e&amd64.PTE_P == 0 {
				continue
			}
			l := leaf{
				va: va + i<<(12+9*level), size: 1 << (12 + 9*level),
				write:   path.write && e&amd64.PTE_W != 0,
				execute: path.execute && e&amd64.PTE_NX == 0,
				user:    path.user && e&amd64.PTE_U != 0,
			}
			if level > 0 && e&amd64.PTE_PS == 0 {
				walk(e&amd64.PTE_ADDR, l.va, level-1, l)
				continue
			}
			l.pa = e & amd64.PTE_ADDR &^ (l.size - 1)
			all = append(all, l)
		}
	}
	walk(root, 0, 3, leaf{write: true, execute: true, user: true})
	return all
}

func writeXorExecute(t *suites.T) {
	for _, l := range leaves() {
		if l.write && l.execute {
			t.Errorf("%#x, %#x bytes, is writable and executable", l.va, l.size)
		}
	}
}

func onlyCodeIsExecutable(t *suites.T) {
	stubs := 0
	for _, l := range leaves() {
		va := uintptr(l.va)
		if !l.execute || mm.Text.Contains(va) || mm.Slots.Contains(va) {
			continue
		}
		stubs++
		if l.size != paging.PageSize {
			t.Errorf("%#x, %#x bytes, is executable", l.va, l.size)
		}
	}
	if stubs != 1 {
		t.Errorf("%d pages beside text and slots are executable, want 1: the trap stubs", stubs)
	}
}

func nothingForRing3(t *suites.T) {
	for _, l := range leaves() {
		if l.user {
			t.Errorf("%#x is accessible from ring 3", l.va)
		}
	}
}

// noPageTwice: code that uses memory by one address does not expect another to change it.
// Only text and slots have a second one, to write to them.
func noPageTwice(t *suites.T) {
	first := map[uint64]uint64{}
	for _, l := range leaves() {
		for off := uint64(0); off < l.size; off += paging.PageSize {
			va, pa := l.va+off, l.pa+off
			if is := uintptr(va) - mm.AliasOffset; mm.Text.Contains(is) || mm.Slots.Contains(is) {
				if first[pa] != uint64(is) {
					t.Errorf("the alias at %#x is of %#x, want %#x", va, first[pa], is)
				}
				continue
			}
			if other, ok := first[pa]; ok {
				t.Errorf("page %#x is mapped at %#x and %#x", pa, other, va)
			}
			first[pa] = va
		}
	}
}

func everyCPUUsesTheTables(t *suites.T) {
	var root, efer [trap.MaxCPUs]uint64
	suites.EachCPU(func(id int) {
		root[id], efer[id] = cpu.ReadCR3(), cpu.Rdmsr(amd64.MSR_EFER)
	})
	for id := range cpu.Num() {
		if root[id] != mm.Tables.Root {
			t.Errorf("CPU %d: CR3 %#x, want %#x", id, root[id], mm.Tables.Root)
		}
		if efer[id]&amd64.EFER_NXE == 0 {
			t.Errorf("CPU %d: no-execute is off", id)
		}
	}
}

// stacksHaveGuardPages looks at each CPU's trap area: as many holes as there are
// stacks, one of them right below the trap stack.
func stacksHaveGuardPages(t *suites.T) {
	// Addresses, not pointers: storing those needs a write barrier, which
	// interrupt context does not have.
	var bases [trap.MaxCPUs]uintptr
	suites.EachCPU(func(id int) { bases[id] = uintptr(unsafe.Pointer(trap.Self())) })
	for id := range cpu.Num() {
		base := uint64(bases[id])
		area := *(**trap.CPU)(unsafe.Pointer(&bases[id])) // Safe because: a CPU's area stays where it is
		holes := 0
		for va := base; va < base+trap.AreaSize; va += paging.PageSize {
			_, flags, ok := mm.Tables.Lookup(va)
			if !ok {
				holes++
			} else if flags&amd64.PTE_W == 0 || flags&amd64.PTE_NX == 0 {
				t.Errorf("CPU %d: %#x in the trap area has flags %#x", id, va, flags)
			}
		}
		if holes != trap.MaxGuards {
			t.Errorf("CPU %d: %d unmapped pages in the trap area, want %d", id, holes, trap.MaxGuards)
		}
		lo, hi := area.TrapStack()
		if _, _, ok := mm.Tables.Lookup(uint64(lo) - 1); ok {
			t.Errorf("CPU %d: the page below the trap stack is mapped", id)
		}
		if area.Guard(lo-1) == "" || area.Guard(lo) != "" || area.Guard(hi) != "" {
			t.Errorf("CPU %d: the guard of %#x..%#x is not known as such", id, lo, hi)
		}
	}
}

func bootStackHasGuardPage(t *suites.T) {
	s, err := kallsyms.Resolve("main.bootStack")
	t.Must(err)
	guard := (s.Addr + paging.PageSize - 1) &^ (paging.PageSize - 1)
	if _, _, ok := mm.Tables.Lookup(guard); ok {
		t.Errorf("%#x, the lowest page of the boot stack, is mapped", guard)
	}
	if _, _, ok := mm.Tables.Lookup(guard + paging.PageSize); !ok {
		t.Errorf("%#x, in the boot stack, is not mapped", guard+paging.PageSize)
	}
}
