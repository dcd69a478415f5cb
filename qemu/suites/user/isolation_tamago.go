//go:build tamago

package user

import (
	"slices"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	ring3 "sonde/arch/amd64/user"
	"sonde/kernel/cpu"
	"sonde/kernel/mm"
	"sonde/qemu/suites"
)

func init() {
	suites.Add("user/privileged_instructions", privileged)
	suites.Add("user/software_interrupts", softwareInterrupts)
	suites.Add("user/ports", ports)
	suites.Add("user/kernel_memory", kernelMemory)
	suites.Add("user/protection_is_on", protectionIsOn)
	suites.Add("user/registers_of_others_are_not_seen", othersRegisters)
}

// either stands for #GP or #UD: processors differ.
const either ring3.Event = 0x1000

// forbidden is what a program must not do, and how the processor says so. Operands in
// memory are at (SP), and the general registers are 0. Far returns are missing: for QEMU
// it is the kernel that reads their stack, so SMAP refuses that first.
var forbidden = []struct {
	name   string
	code   []byte
	vector ring3.Event
}{
	{"hlt", []byte{0xf4}, amd64.VEC_GP},
	{"cli", []byte{0xfa}, amd64.VEC_GP},
	{"sti", []byte{0xfb}, amd64.VEC_GP},
	{"clts", []byte{0x0f, 0x06}, amd64.VEC_GP},
	{"invd", []byte{0x0f, 0x08}, amd64.VEC_GP},
	{"wbinvd", []byte{0x0f, 0x09}, amd64.VEC_GP},
	{"rdmsr", []byte{0x0f, 0x32}, amd64.VEC_GP},
	{"wrmsr", []byte{0x0f, 0x30}, amd64.VEC_GP},
	{"rdpmc", []byte{0x0f, 0x33}, amd64.VEC_GP},
	{"mov cr0, rax", []byte{0x0f, 0x22, 0xc0}, amd64.VEC_GP},
	{"mov rax, cr0", []byte{0x0f, 0x20, 0xc0}, amd64.VEC_GP},
	{"mov rax, cr2", []byte{0x0f, 0x20, 0xd0}, amd64.VEC_GP},
	{"mov rax, cr3", []byte{0x0f, 0x20, 0xd8}, amd64.VEC_GP},
	{"mov cr3, rax", []byte{0x0f, 0x22, 0xd8}, amd64.VEC_GP},
	{"mov rax, cr4", []byte{0x0f, 0x20, 0xe0}, amd64.VEC_GP},
	{"mov cr4, rax", []byte{0x0f, 0x22, 0xe0}, amd64.VEC_GP},
	{"mov rax, cr8", []byte{0x44, 0x0f, 0x20, 0xc0}, amd64.VEC_GP},
	{"mov cr8, rax", []byte{0x44, 0x0f, 0x22, 0xc0}, amd64.VEC_GP},
	{"mov rax, dr0", []byte{0x0f, 0x21, 0xc0}, amd64.VEC_GP},
	{"mov dr0, rax", []byte{0x0f, 0x23, 0xc0}, amd64.VEC_GP},
	{"mov rax, dr7", []byte{0x0f, 0x21, 0xf8}, amd64.VEC_GP},
	{"mov dr7, rax", []byte{0x0f, 0x23, 0xf8}, amd64.VEC_GP},
	{"lmsw ax", []byte{0x0f, 0x01, 0xf0}, amd64.VEC_GP},
	{"lgdt", []byte{0x0f, 0x01, 0x14, 0x24}, amd64.VEC_GP},
	{"lidt", []byte{0x0f, 0x01, 0x1c, 0x24}, amd64.VEC_GP},
	{"lldt ax", []byte{0x0f, 0x00, 0xd0}, amd64.VEC_GP},
	{"ltr ax", []byte{0x0f, 0x00, 0xd8}, amd64.VEC_GP},
	{"invlpg", []byte{0x0f, 0x01, 0x3c, 0x24}, amd64.VEC_GP},
	{"swapgs", []byte{0x0f, 0x01, 0xf8}, amd64.VEC_GP},
	{"sysretq", []byte{0x48, 0x0f, 0x07}, amd64.VEC_GP},
	{"sysexitq", []byte{0x48, 0x0f, 0x35}, either},
	{"in al, 0x60", []byte{0xe4, 0x60}, amd64.VEC_GP},
	{"out 0x80, al", []byte{0xe6, 0x80}, amd64.VEC_GP},
	{"insb", []byte{0x6c}, amd64.VEC_GP},
	{"outsb", []byte{0x6e}, amd64.VEC_GP},
	{"mov ds, ax = kernel data", []byte{0x66, 0xb8, amd64.SelKernelData, 0, 0x8e, 0xd8}, amd64.VEC_GP},
	{"mov ss, ax = kernel data", []byte{0x66, 0xb8, amd64.SelKernelData, 0, 0x8e, 0xd0}, amd64.VEC_GP},
	{"far jump to kernel code", []byte{0x68, 0, 0, amd64.SelKernelCode, 0, 0x48, 0xff, 0x2c, 0x24}, amd64.VEC_GP},
	{"clac", []byte{0x0f, 0x01, 0xca}, amd64.VEC_UD},
	{"stac", []byte{0x0f, 0x01, 0xcb}, amd64.VEC_UD},
	{"rsm", []byte{0x0f, 0xaa}, amd64.VEC_UD},
	{"monitor", []byte{0x0f, 0x01, 0xc8}, amd64.VEC_UD},
	{"vmcall", []byte{0x0f, 0x01, 0xc1}, amd64.VEC_UD},
	{"xsetbv", []byte{0x0f, 0x01, 0xd1}, either},
	{"xgetbv", []byte{0x0f, 0x01, 0xd0}, amd64.VEC_UD},
}

// umip are those that tell where the kernel's tables are. They are refused where there
// is UMIP.
var umip = []struct {
	name string
	code []byte
}{
	{"sgdt", []byte{0x0f, 0x01, 0x04, 0x24}},
	{"sidt", []byte{0x0f, 0x01, 0x0c, 0x24}},
	{"sldt ax", []byte{0x0f, 0x00, 0xc0}},
	{"str ax", []byte{0x0f, 0x00, 0xc8}},
	{"smsw ax", []byte{0x0f, 0x01, 0xe0}},
}

func privileged(t *suites.T) {
	before := machineState()
	for _, x := range forbidden {
		if c, e := once(t, append(slices.Clone(x.code), 0x0f, 0x05), nil); e != x.vector && (x.vector != either || e != amd64.VEC_GP && e != amd64.VEC_UD) {
			t.Errorf("%s: %s, want %#x", x.name, what(c, e), uint64(x.vector))
		}
	}
	if has(7, 0, 2, 2) {
		for _, x := range umip {
			if c, e := once(t, append(slices.Clone(x.code), 0x0f, 0x05), nil); e != amd64.VEC_GP {
				t.Errorf("%s: %s, want a #GP", x.name, what(c, e))
			}
		}
	}
	// These do less than they say, and do not fault.
	c, e := once(t, []byte{0x9c, 0x81, 0x0c, 0x24, 0, 0x30, 0, 0, 0x81, 0x24, 0x24, 0xff, 0xfd, 0xff, 0xff, 0x9d, 0x0f, 0x05}, nil)
	if e != ring3.SystemCall || c.Regs.Flags&(amd64.RFLAGS_IF|amd64.RFLAGS_IOPL) != amd64.RFLAGS_IF {
		t.Errorf("popf: %s, flags %#x", what(c, e), c.Regs.Flags)
	}
	if after := machineState(); after != before {
		t.Errorf("control registers were %#x, are %#x", before, after)
	}
}

// machineState is what the instructions above would change.
func machineState() [3]uint64 {
	return [3]uint64{cpu.ReadCR4(), cpu.Rdmsr(amd64.MSR_EFER), cpu.Rdmsr(amd64.MSR_LSTAR)}
}

// has reports whether bit of register reg (0-3: A-D) of a leaf of CPUID is set.
func has(leaf, sub uint32, reg, bit int) bool {
	a, b, c, d := cpu.CPUID(leaf, sub)
	return [4]uint32{a, b, c, d}[reg]>>bit&1 != 0
}

// softwareInterrupts: only INT3 and INT 4 are for programs. The kernel's own software
// interrupts would otherwise be entered with a program's stack.
func softwareInterrupts(t *suites.T) {
	for v := range 256 {
		want := ring3.Event(amd64.VEC_GP)
		if v == amd64.VEC_BP || v == amd64.VEC_OF {
			want = ring3.Event(v)
		}
		if c, e := once(t, []byte{0xcd, byte(v)}, nil); e != want {
			t.Errorf("int %d: %s, want %#x", v, what(c, e), uint64(want))
		}
	}
}

// ports: none of them, whatever the width.
func ports(t *suites.T) {
	code := []byte{0xec, 0x0f, 0x05} // INB; SYSCALL
	p := load(t, code)
	defer p.Close()
	c := p.thread()
	for _, op := range []byte{0xec, 0xed, 0xee, 0xef} {
		p.code[0] = op
		step := 257
		if op == 0xee { // all of them once
			step = 1
		}
		for port := 0; port < 1<<16; port += step {
			c.Regs.IP, c.Regs.DX = codeAt, uint64(port)
			if e := settle(c); e != amd64.VEC_GP || c.Regs.IP != codeAt {
				t.Fatalf("op %#x, port %#x: %s", op, port, what(c, e))
			}
		}
	}
}

var victim = uint64(0x1122334455667788)

// kernelMemory reads, writes and executes what is the kernel's.
func kernelMemory(t *suites.T) {
	heap := new(uint64)
	*heap = victim
	own := ring3.New()
	lapic := uint64(cpu.Rdmsr(amd64.MSR_APIC_BASE) &^ 0xfff)
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
		"page tables":  mm.Tables.Root,
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
	// What is low in the kernel's tables is nowhere in a program's.
	if c, e := once(t, append(mov(0x8000), 0x48, 0x8b, 0), nil); e != amd64.VEC_PF || c.Regs.Err != amd64.PF_U {
		t.Errorf("low memory: %s", what(c, e))
	}
}

// othersRegisters: MMX registers are the x87's, and FNINIT leaves in them what was there.
func othersRegisters(t *suites.T) {
	var fills, reads []byte
	for mm := range byte(8) {
		fills = append(fills, 0x48, 0x0f, 0x6e, 0xc0|mm<<3)                // movq mm, rax
		reads = append(reads, 0x48, 0x0f, 0x7e, 0xc1|mm<<3, 0x48, 9, 0xc8) // movq rcx, mm; or rax, rcx
	}
	call := []byte{0x0f, 0x05}
	const emms = "\x0f\x77" // says that they are all empty
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

// protectionIsOn looks at every CPU.
func protectionIsOn(t *suites.T) {
	want := uint64(amd64.CR4_FSGSBASE)
	for bit, there := range map[uint64]bool{amd64.CR4_SMEP: has(7, 0, 1, 7), amd64.CR4_SMAP: has(7, 0, 1, 20), amd64.CR4_UMIP: has(7, 0, 2, 2)} {
		if there {
			want |= bit
		}
	}
	var have, mask [trap.MaxCPUs]uint64
	suites.EachCPU(func(id int) { have[id], mask[id] = cpu.ReadCR4(), cpu.Rdmsr(amd64.MSR_FMASK) })
	for id := range cpu.Num() {
		if have[id]&want != want || have[id]&(amd64.CR4_OSXSAVE|amd64.CR4_PCE) != 0 {
			t.Errorf("CPU %d: CR4 is %#x, want %#x in it", id, have[id], want)
		}
		const clears = amd64.RFLAGS_IF | amd64.RFLAGS_TF | amd64.RFLAGS_DF | amd64.RFLAGS_AC | amd64.RFLAGS_NT | amd64.RFLAGS_IOPL
		if mask[id]&clears != clears {
			t.Errorf("CPU %d: FMASK is %#x", id, mask[id])
		}
	}
	t.Logf("CR4 %#x", have[0])
}
