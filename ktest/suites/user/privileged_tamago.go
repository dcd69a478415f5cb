//go:build tamago

package user

import (
	"encoding/binary"
	"hash/crc64"
	"slices"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/msr"
	"sonde/arch/amd64/trap"
	ring3 "sonde/arch/amd64/user"
	"sonde/kernel/cpu"
	"sonde/kernel/mm"
	"sonde/ktest/suites"
)

func init() {
	suites.Add("user/privileged_instructions", privileged)
	suites.Add("user/software_interrupts", softwareInterrupts)
	suites.Add("user/ports", ports)
}

// Where processors differ: #GP or the other exception.
const (
	either   ring3.Event = 1<<12 + amd64.VEC_UD
	noReturn ring3.Event = 1<<12 + amd64.VEC_PF
)

// meets reports whether e is what is wanted.
func meets(e, want ring3.Event) bool {
	return e == want || want > 1<<12 && (e == amd64.VEC_GP || e == want-1<<12)
}

// forbidden is what a program must not do, and how the processor says so. Operands in
// memory are at (SP), and the general registers are 0. A far return may be a page fault: for
// QEMU it is the kernel that reads its stack, so SMAP refuses that first.
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
	{"far call to kernel code", []byte{0x68, 0, 0, amd64.SelKernelCode, 0, 0x48, 0xff, 0x1c, 0x24}, amd64.VEC_GP},
	{"far return to kernel code", []byte{0x6a, amd64.SelKernelCode, 0x6a, 0, 0x48, 0xcb}, noReturn},
	{"iretq to kernel code", []byte{0x6a, amd64.SelUserData, 0x54, 0x9c, 0x6a, amd64.SelKernelCode, 0x6a, 0, 0x48, 0xcf}, noReturn},
	{"mov cr2, rax", []byte{0x0f, 0x22, 0xd0}, amd64.VEC_GP},
	{"mov rax, dr6", []byte{0x0f, 0x21, 0xf0}, amd64.VEC_GP},
	{"mov dr6, rax", []byte{0x0f, 0x23, 0xf0}, amd64.VEC_GP},
	{"lmsw [rsp]", []byte{0x0f, 0x01, 0x34, 0x24}, amd64.VEC_GP},
	{"sysretl", []byte{0x0f, 0x07}, amd64.VEC_GP},
	{"sysexitl", []byte{0x0f, 0x35}, either},
	{"sysenter", []byte{0x0f, 0x34}, either},
	{"in eax, dx", []byte{0xed}, amd64.VEC_GP},
	{"out dx, eax", []byte{0xef}, amd64.VEC_GP},
	{"insd", []byte{0x6d}, amd64.VEC_GP},
	{"outsd", []byte{0x6f}, amd64.VEC_GP},
	{"rep insb", []byte{0xff, 0xc1, 0xf3, 0x6c}, amd64.VEC_GP}, // CX is 1
	{"rep outsb", []byte{0xff, 0xc1, 0xf3, 0x6e}, amd64.VEC_GP},
	{"mov es, ax = TSS", []byte{0x66, 0xb8, amd64.SelTSS, 0, 0x8e, 0xc0}, amd64.VEC_GP},
	{"far jump to the TSS", []byte{0x68, 0, 0, amd64.SelTSS, 0, 0x48, 0xff, 0x2c, 0x24}, amd64.VEC_GP},
	{"invpcid", []byte{0x66, 0x0f, 0x38, 0x82, 0x04, 0x24}, either},
	{"invept", []byte{0x66, 0x0f, 0x38, 0x80, 0x04, 0x24}, amd64.VEC_UD},
	{"invvpid", []byte{0x66, 0x0f, 0x38, 0x81, 0x04, 0x24}, amd64.VEC_UD},
	{"mwait", []byte{0x0f, 0x01, 0xc9}, amd64.VEC_UD},
	{"vmlaunch", []byte{0x0f, 0x01, 0xc2}, amd64.VEC_UD},
	{"vmresume", []byte{0x0f, 0x01, 0xc3}, amd64.VEC_UD},
	{"vmxoff", []byte{0x0f, 0x01, 0xc4}, amd64.VEC_UD},
	{"vmread", []byte{0x0f, 0x78, 0xc0}, amd64.VEC_UD},
	{"vmwrite", []byte{0x0f, 0x79, 0xc0}, amd64.VEC_UD},
	{"vmptrld", []byte{0x0f, 0xc7, 0x34, 0x24}, amd64.VEC_UD},
	{"vmclear", []byte{0x66, 0x0f, 0xc7, 0x34, 0x24}, amd64.VEC_UD},
	{"vmxon", []byte{0xf3, 0x0f, 0xc7, 0x34, 0x24}, amd64.VEC_UD},
	{"vmrun", []byte{0x0f, 0x01, 0xd8}, either},
	{"vmload", []byte{0x0f, 0x01, 0xda}, either},
	{"vmsave", []byte{0x0f, 0x01, 0xdb}, either},
	{"stgi", []byte{0x0f, 0x01, 0xdc}, either},
	{"clgi", []byte{0x0f, 0x01, 0xdd}, either},
	{"skinit", []byte{0x0f, 0x01, 0xde}, either},
	{"invlpga", []byte{0x0f, 0x01, 0xdf}, either},
	{"clac", []byte{0x0f, 0x01, 0xca}, amd64.VEC_UD},
	{"stac", []byte{0x0f, 0x01, 0xcb}, amd64.VEC_UD},
	{"rsm", []byte{0x0f, 0xaa}, amd64.VEC_UD},
	{"monitor", []byte{0x0f, 0x01, 0xc8}, amd64.VEC_UD},
	{"vmcall", []byte{0x0f, 0x01, 0xc1}, amd64.VEC_UD},
	{"xsetbv", []byte{0x0f, 0x01, 0xd1}, either},
	{"xgetbv", []byte{0x0f, 0x01, 0xd0}, ofXGETBV()},
}

// ofXGETBV is what XGETBV leads to: programs read by it whether they may use AVX.
func ofXGETBV() ring3.Event {
	if has(1, 0, 2, 28) {
		return ring3.SystemCall
	}
	return amd64.VEC_UD
}

// byEmulator is what QEMU's emulation does instead, since 10.0: it takes INVD and WBINVD for
// instructions that do nothing, in ring 3 too, and reads the operand of VMX instructions before it
// reports that there is no VMX. Neither changes anything of the kernel's, which is checked as well.
var byEmulator = map[string]ring3.Event{
	"invd": ring3.SystemCall, "wbinvd": ring3.SystemCall, // the instruction after it
	"vmptrld": amd64.VEC_PF, "vmclear": amd64.VEC_PF, "vmxon": amd64.VEC_PF,
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
	t.OneProcessor()
	cpus, memory := machineState()
	for _, x := range forbidden {
		c, e := once(t, append(slices.Clone(x.code), 0x0f, 0x05), nil)
		instead, known := byEmulator[x.name]
		switch {
		case meets(e, x.vector):
		case known && cpu.Emulated() && e == instead:
			t.Logf("the emulator does otherwise: %s: %s", x.name, what(c, e))
		default:
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
	if now, sum := machineState(); now != cpus || sum != memory {
		t.Errorf("kernel memory %#x, now %#x; CPUs:\n%#x\n%#x", memory, sum, cpus[:cpu.Num()], now[:cpu.Num()])
	}
}

// state is what the instructions above would change of a CPU.
type state struct{ cr4, efer, lstar, gdt, idt uint64 }

// tables stores what SGDT and SIDT do.
//
//go:noescape
func tables(gdtr, idtr *[10]byte)

var sums = crc64.MakeTable(crc64.ECMA)

// machineState returns the state of all CPUs, without CR4_TSD, which is the last program's, and a checksum of the kernel's text and constants.
func machineState() (cpus [trap.MaxCPUs]state, memory uint64) {
	for _, r := range []mm.Range{mm.Text, mm.ROData} {
		memory = crc64.Update(memory, sums, unsafe.Slice((*byte)(unsafe.Pointer(r.Start)), r.End-r.Start)) // Safe because: boot mapped it, and it stays
	}
	suites.EachCPU(func(id int) {
		var gdtr, idtr [10]byte
		tables(&gdtr, &idtr)
		cpus[id] = state{cpu.ReadCR4() &^ amd64.CR4_TSD, msr.Read(amd64.MSR_EFER), msr.Read(amd64.MSR_LSTAR), sumOf(&gdtr), sumOf(&idtr)}
	})
	return cpus, memory
}

// sumOf is a checksum of the table that a descriptor-table register points to.
func sumOf(r *[10]byte) uint64 {
	base, limit := uintptr(binary.LittleEndian.Uint64(r[2:])), binary.LittleEndian.Uint16(r[:])
	return crc64.Update(uint64(base), sums, unsafe.Slice((*byte)(unsafe.Pointer(base)), int(limit)+1)) // Safe because: the CPU uses it
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
	t.OneProcessor()
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
