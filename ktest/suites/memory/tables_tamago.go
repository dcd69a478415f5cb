//go:build tamago

package memory

import (
	"slices"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/msr"
	"sonde/arch/amd64/paging"
	"sonde/arch/amd64/trap"
	"sonde/kernel/cpu"
	"sonde/kernel/mm"
	"sonde/ktest/suites"
	"sonde/ktest/suites/leaves"
)

func init() {
	suites.Add("memory/nothing_is_writable_and_executable", writeXorExecute)
	suites.Add("memory/only_code_is_executable", onlyCodeIsExecutable)
	suites.Add("memory/everything_is_where_the_layout_has_it", layoutHolds)
	suites.Add("memory/nothing_is_mapped_for_ring_3", nothingForRing3)
	suites.Add("memory/no_page_is_mapped_twice", noPageTwice)
	suites.Add("memory/every_cpu_uses_these_tables", everyCPUUsesTheTables)
	suites.Add("memory/stacks_have_guard_pages", stacksHaveGuardPages)
	suites.Add("memory/boot_stack_has_a_guard_page", bootStackHasGuardPage)
}

func writeXorExecute(t *suites.T) {
	for _, l := range leaves.All() {
		if l.Write && l.Execute {
			t.Errorf("%#x, %#x bytes, is writable and executable", l.VA, l.Size)
		}
	}
}

func onlyCodeIsExecutable(t *suites.T) {
	stubs := 0
	for _, l := range leaves.All() {
		va := uintptr(l.VA)
		if !l.Execute || mm.Text.Contains(va) || mm.Slots.Contains(va) || mm.Made.Contains(va) {
			continue
		}
		stubs++
		if l.Size != paging.PageSize {
			t.Errorf("%#x, %#x bytes, is executable", l.VA, l.Size)
		}
	}
	if stubs != 1 {
		t.Errorf("%d pages beside text and slots are executable, want 1: the trap stubs", stubs)
	}
}

// rightsInImage is what a page of a part of the image may be used for; of the rest of its region,
// "rw-", but for the page of the trap stubs.
func rightsInImage(l leaves.Leaf) string {
	parts := []struct {
		r      mm.Range
		rights string
	}{{mm.Text, "r-x"}, {mm.Slots, "r-x"}, {mm.Made, "r-x"}, {mm.ROData, "r--"}, {mm.Symbols, "r--"}}
	for _, p := range parts {
		if p.r.Contains(uintptr(l.VA)) {
			return p.rights
		}
	}
	if l.Execute {
		return "r-x"
	}
	return "rw-"
}

func layoutHolds(t *suites.T) {
	used := map[string]bool{}
	for _, l := range leaves.All() {
		i := slices.IndexFunc(mm.Layout, func(r mm.Region) bool { return l.VA >= r.Start && l.VA+l.Size-1 < r.End })
		if i < 0 {
			t.Errorf("%#x, %#x bytes, is in no region", l.VA, l.Size)
			continue
		}
		r, want := mm.Layout[i], mm.Layout[i].Rights
		used[r.Use] = true
		if want == "" {
			want = rightsInImage(l)
		}
		if l.Rights() != want {
			t.Errorf("%#x is %s, want %s: %s", l.VA, l.Rights(), want, r.Use)
		}
		if r.Linear && l.VA-l.PA != r.Start {
			t.Errorf("%#x is at %#x, want it at %#x plus that: %s", l.VA, l.PA, r.Start, r.Use)
		}
	}
	if len(used) < 4 {
		t.Errorf("only %d regions have pages: at least the heap, the image, its alias and the devices are there", len(used))
	}
	for i, r := range mm.Layout[1:] {
		if r.Start < mm.Layout[i].End {
			t.Errorf("the region at %#x overlaps the one before", r.Start)
		}
	}
}

func nothingForRing3(t *suites.T) {
	for _, l := range leaves.All() {
		if l.User {
			t.Errorf("%#x is accessible from ring 3", l.VA)
		}
	}
}

// noPageTwice: code that uses memory by one address does not expect another to change it.
// Only text and slots have a second one, to write to them.
func noPageTwice(t *suites.T) {
	first, alias := map[uint64]uint64{}, map[uint64]uint64{}
	for _, l := range leaves.All() {
		for off := uint64(0); off < l.Size; off += paging.PageSize {
			va, pa := l.VA+off, l.PA+off
			if is := uintptr(va) - mm.AliasOffset; mm.Text.Contains(is) || mm.Slots.Contains(is) || mm.Made.Contains(is) {
				alias[pa] = uint64(is)
				continue
			}
			if other, ok := first[pa]; ok {
				t.Errorf("page %#x is mapped at %#x and %#x", pa, other, va)
			}
			first[pa] = va
		}
	}
	for pa, is := range alias {
		if first[pa] != is {
			t.Errorf("the alias of %#x is of %#x", is, first[pa])
		}
	}
}

func everyCPUUsesTheTables(t *suites.T) {
	var root, efer [trap.MaxCPUs]uint64
	suites.EachCPU(func(id int) {
		root[id], efer[id] = cpu.ReadCR3(), msr.Read(amd64.MSR_EFER)
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
	s := t.Function("main.bootStack")
	guard := (s.Addr + paging.PageSize - 1) &^ (paging.PageSize - 1)
	if _, _, ok := mm.Tables.Lookup(guard); ok {
		t.Errorf("%#x, the lowest page of the boot stack, is mapped", guard)
	}
	if _, _, ok := mm.Tables.Lookup(guard + paging.PageSize); !ok {
		t.Errorf("%#x, in the boot stack, is not mapped", guard+paging.PageSize)
	}
}
