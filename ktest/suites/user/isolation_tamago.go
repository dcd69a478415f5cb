//go:build tamago

package user

import (
	"slices"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/msr"
	"sonde/arch/amd64/phys"
	"sonde/arch/amd64/trap"
	ring3 "sonde/arch/amd64/user"
	"sonde/kernel/cpu"
	"sonde/kernel/mm"
	"sonde/ktest/suites"
	"sonde/ktest/suites/leaves"
)

func init() {
	suites.Add("user/kernel_memory", kernelMemory)
	suites.Add("user/every_page_of_the_kernel", everyPage)
	suites.Add("user/protection_is_on", protectionIsOn)
	suites.Add("user/registers_of_others_are_not_seen", othersRegisters)
}

var victim = uint64(0x1122334455667788)

// kernelMemory reads, writes and executes the kernel's memory.
func kernelMemory(t *suites.T) {
	heap := new(uint64)
	*heap = victim
	own := ring3.New()
	lapic := uint64(phys.Direct(msr.Read(amd64.MSR_APIC_BASE) &^ 0xfff))
	addrs := map[string]uint64{
		"text":         uint64(mm.Text.Start) + 0x1000,
		"its alias":    uint64(mm.Text.Start+mm.AliasOffset) + 0x1000,
		"slots":        uint64(mm.Slots.Start),
		"rodata":       uint64(mm.ROData.Start),
		"data":         uint64(uintptr(unsafe.Pointer(&victim))),
		"heap":         uint64(uintptr(unsafe.Pointer(heap))),
		"heap's start": uint64(mm.Heap.Start),
		"a Context":    uint64(uintptr(unsafe.Pointer(own))),
		"a CPU":        uint64(uintptr(unsafe.Pointer(trap.Self()))),
		"page tables":  uint64(uintptr(mm.Tables.Mem.Base)) + mm.Tables.Root,
		"local APIC":   lapic,
	}
	before := suites.TextChanged()
	for name, addr := range addrs {
		for _, x := range []struct {
			how  string
			code []byte
			ip   uint64
			err  uint64
		}{
			{"read", append(mov(addr), 0x48, 0x8b, 0), codeAt + 10, amd64.PF_P | amd64.PF_U},
			{"write", append(mov(addr), 0x48, 0x89, 0), codeAt + 10, amd64.PF_P | amd64.PF_U | amd64.PF_W},
			{"execute", append(mov(addr), 0xff, 0xe0), addr, amd64.PF_P | amd64.PF_U | amd64.PF_I},
		} {
			c, e := once(t, x.code, nil)
			if e != amd64.VEC_PF || c.Regs.IP != x.ip || c.CR2 != addr || c.Regs.Err&^amd64.PF_I != x.err&^amd64.PF_I {
				t.Errorf("%s %s at %#x: %s, want a page fault with %#x", x.how, name, addr, what(c, e), x.err)
			}
			if c.Regs.AX != addr {
				t.Errorf("%s %s: AX is %#x", x.how, name, c.Regs.AX)
			}
		}
	}
	if victim != 0x1122334455667788 || *heap != victim || suites.TextChanged() != before {
		t.Errorf("changed: %#x, %#x, %d bytes of text", victim, *heap, suites.TextChanged())
	}
}

// everyPage reads, writes and executes each page that the kernel has mapped, the first and the last
// bytes of each mapping, what is next to that, and addresses that are not canonical. Of a mapping of more
// than mostPages pages, which is the heap of a large machine, it takes so many.
func everyPage(t *suites.T) {
	t.OneProcessor()
	const mostPages = 1 << 17
	var addrs []uint64
	for _, r := range mapped() {
		start, end := uint64(r.Start), uint64(r.End)
		addrs = append(addrs, start, end-8, start-8, end)
		for at := start; at < end; at += max((end-start)/mostPages&^(pageSize-1), pageSize) {
			addrs = append(addrs, at+0x10)
		}
	}
	for bit := 47; bit < 64; bit++ {
		addrs = append(addrs, 1<<bit, 1<<bit-8, 1<<bit+1<<46, ^uint64(0)<<bit)
	}
	refused(t, addrs)
}

// refused checks that a program can neither read nor write nor execute any of these addresses.
func refused(t *suites.T, addrs []uint64) {
	before := suites.TextChanged()
	for _, x := range []struct {
		how  string
		code []byte
	}{{"read", []byte{0x48, 0x8b, 0}}, {"write", []byte{0x48, 0x89, 0}}, {"execute", []byte{0xff, 0xe0}}} {
		p := load(t, x.code)
		for _, addr := range addrs {
			c := p.thread()
			c.Regs.AX = addr
			e := settle(c)
			if refused := e == amd64.VEC_PF && c.CR2 == addr || e == amd64.VEC_GP; !refused && addr >= ring3.End || c.Regs.AX != addr {
				t.Errorf("%s %#x: %s, AX %#x", x.how, addr, what(c, e), c.Regs.AX)
			}
		}
		p.Close()
	}
	if suites.TextChanged() != before || len(addrs) < 10_000 {
		t.Errorf("%d bytes of text changed, by %d addresses", suites.TextChanged()-before, len(addrs))
	}
	t.Logf("%d addresses", len(addrs))
}

// mapped returns what the kernel's tables map, without a hole in any.
func mapped() (all []mm.Range) {
	for _, l := range leaves.All() {
		start, end := uintptr(l.VA), uintptr(l.VA+l.Size)
		if n := len(all); n > 0 && all[n-1].End == start {
			all[n-1].End = end
		} else {
			all = append(all, mm.Range{Start: start, End: end})
		}
	}
	return all
}

// othersRegisters: MMX registers are the x87's, and FNINIT leaves their contents.
func othersRegisters(t *suites.T) {
	var fills, reads []byte
	for mm := range byte(8) {
		fills = append(fills, 0x48, 0x0f, 0x6e, 0xc0|mm<<3)                // movq mm, rax
		reads = append(reads, 0x48, 0x0f, 0x7e, 0xc1|mm<<3, 0x48, 9, 0xc8) // movq rcx, mm; or rax, rcx
	}
	call := []byte{0x0f, 0x05}
	const emms = "\x0f\x77" // marks them all as empty
	empties := slices.Concat(fills, []byte(emms), call)
	p, q, r := load(t, append(fills, call...)), load(t, append(reads, call...)), load(t, empties)
	defer r.Close()
	defer p.Close()
	defer q.Close()
	for range 100 { // on all CPUs, in time
		c := p.thread()
		if c.Regs.AX = victim; settle(c) != ring3.SystemCall {
			t.Fatalf("%+v", c.Regs)
		}
		d := q.thread()
		if e := settle(d); e != ring3.SystemCall || d.Regs.AX != 0 {
			t.Fatalf("AX %#x: %s", d.Regs.AX, what(d, e))
		}
		e := r.thread()
		if e.Regs.AX = victim; settle(e) != ring3.SystemCall {
			t.Fatalf("%+v", e.Regs)
		}
		d = q.thread()
		if e := settle(d); e != ring3.SystemCall || d.Regs.AX != 0 {
			t.Fatalf("after emms: AX %#x: %s", d.Regs.AX, what(d, e))
		}
		// The first has its own again.
		copy(p.code[len(fills)+2:], append(reads, call...))
		if c.Regs.AX = 0; settle(c) != ring3.SystemCall || c.Regs.AX != victim {
			t.Fatalf("AX %#x, want %#x", c.Regs.AX, victim)
		}
	}
}

// protectionIsOn checks every CPU.
func protectionIsOn(t *suites.T) {
	var want uint64
	for bit, there := range map[uint64]bool{amd64.CR4_FSGSBASE: has(7, 0, 1, 0), amd64.CR4_OSXSAVE: has(1, 0, 2, 28), amd64.CR4_SMEP: has(7, 0, 1, 7), amd64.CR4_SMAP: has(7, 0, 1, 20), amd64.CR4_UMIP: has(7, 0, 2, 2)} {
		if there {
			want |= bit
		}
	}
	var have, mask [trap.MaxCPUs]uint64
	suites.EachCPU(func(id int) { have[id], mask[id] = cpu.ReadCR4(), msr.Read(amd64.MSR_FMASK) })
	for id := range cpu.Num() {
		if have[id]&want != want || have[id]&amd64.CR4_PCE != 0 {
			t.Errorf("CPU %d: CR4 is %#x, want %#x in it", id, have[id], want)
		}
		const clears = amd64.RFLAGS_IF | amd64.RFLAGS_TF | amd64.RFLAGS_DF | amd64.RFLAGS_AC | amd64.RFLAGS_NT | amd64.RFLAGS_IOPL
		if mask[id]&clears != clears {
			t.Errorf("CPU %d: FMASK is %#x", id, mask[id])
		}
	}
	t.Logf("CR4 %#x", have[0])
}
