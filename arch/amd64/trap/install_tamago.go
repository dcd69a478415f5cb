//go:build tamago

package trap

import (
	"encoding/binary"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/insn"
	"sonde/arch/amd64/msr"
	"sonde/kernel/goruntime"
)

// One IDT serves all CPUs: the gates name their stack by number, and each CPU looks it up in its
// own TSS.
const (
	stubSize = 16
	// TablesSize is the size in bytes of the memory that BuildTables fills: the IDT, and the entry
	// stubs in a page of their own, to be mapped executable.
	TablesSize = 2 * page
)

// Table addresses, written once at boot.
var (
	idt   *[vectors]amd64.Gate
	stubs *[vectors][stubSize]byte
)

func addresses() (entry, nmi, fault uintptr)

//go:noescape
func load(gdtr, idtr *[10]byte, tr uint16)

// Self returns the CPU this runs on. In a goroutine the answer is stale at once
// unless interrupts are off.
//
// Context: any.
//
//go:noescape
func Self() *CPU

// BuildTables fills the IDT page at base and the stub page after it, and
// returns the address of the stubs.
//
// Context: boot, before the runtime.
func BuildTables(base uintptr) (stubPage uintptr) {
	// Safe because: base is memory that the caller gives away for good.
	idt = (*[vectors]amd64.Gate)(unsafe.Pointer(base))
	stubs = (*[vectors][stubSize]byte)(unsafe.Pointer(base + page))
	entry, nmi, fault := addresses()
	for v := 0; v < vectors; v++ {
		to := entry
		switch v {
		case amd64.VEC_NMI:
			to = nmi
		case amd64.VEC_DF, amd64.VEC_MC:
			to = fault
		}
		writeStub(v, to)
		setGate(v, uintptr(unsafe.Pointer(&stubs[v])))
	}
	return base + page
}

// privilege returns the outermost ring that may raise v by an instruction: programs may use INT3
// and INTO.
func privilege(v int) uint8 {
	if v == amd64.VEC_BP || v == amd64.VEC_OF {
		return 3
	}
	return 0
}

// setGate makes the gate of vector v lead to addr.
func setGate(v int, addr uintptr) {
	ist := uint8(istTrap)
	switch v {
	case amd64.VEC_DB:
		ist = istDebug
	case amd64.VEC_NMI:
		ist = istNMI
	case amd64.VEC_DF, amd64.VEC_MC:
		ist = istFault
	}
	idt[v] = amd64.MakeGate(uint64(addr), amd64.SelKernelCode, ist, amd64.GateInterrupt, privilege(v))
}

// writeStub writes: PUSH $0 (unless the CPU pushed an error code); PUSH $v; JMP to.
func writeStub(v int, to uintptr) {
	s := &stubs[v]
	n := 0
	if !amd64.HasErrorCode(uint8(v)) {
		s[0], s[1] = insn.OpPush8, 0
		n = 2
	}
	s[n] = insn.OpPush
	binary.LittleEndian.PutUint32(s[n+1:], uint32(v))
	n += 5
	jump, _ := insn.Jump(uint64(uintptr(unsafe.Pointer(s)))+uint64(n), uint64(to)) // both are in the image
	for i := n + copy(s[n:], jump[:]); i < stubSize; i++ {
		s[i] = insn.OpInt3
	}
}

// Install makes c the data of the CPU that calls it: GDT, TSS, GS base and the IDT.
//
// Context: boot of that CPU, interrupts off, before the runtime.
func Install(c *CPU, id, apic uint32) {
	c.self = uintptr(unsafe.Pointer(c))
	c.ID, c.APIC = id, apic
	c.initSoft(id)
	c.Ring3.Kernel, _, _ = addresses()
	c.Ring3.Stack, c.Ring3.HitStack = c.ist[istTrap], c.stacks[stackTrap].hi-hitSpill
	for i := range c.stacks {
		s := &c.stacks[i]
		s.g = uintptr(goruntime.TrapG(int(id), i, s.lo, s.hi))
	}
	c.Ring3.HitG = c.stacks[stackTrap].g
	for i := 1; i <= numIST; i++ {
		c.tss.SetIST(i, uint64(c.ist[i]))
	}
	c.tss.RSP[0].Set(uint64(c.ist[istTrap]))
	c.tss.IOPB = amd64.TSSSize
	c.gdt[amd64.SelKernelCode/8] = amd64.CodeDesc(0)
	c.gdt[amd64.SelKernelData/8] = amd64.DataDesc(0)
	c.gdt[amd64.SelUserData/8] = amd64.DataDesc(3)
	c.gdt[amd64.SelUserCode/8] = amd64.CodeDesc(3)
	tss := uint64(uintptr(unsafe.Pointer(&c.tss)))
	c.gdt[amd64.SelTSS/8], c.gdt[amd64.SelTSS/8+1] = amd64.TSSDesc(tss, amd64.TSSSize-1)
	c.gdt[amd64.SelCPU/8] = amd64.CPUDesc(id)
	gdtr := pseudo(uintptr(unsafe.Pointer(&c.gdt)), uint16(unsafe.Sizeof(c.gdt)-1))
	idtr := pseudo(uintptr(unsafe.Pointer(idt)), vectors*16-1)
	load(&gdtr, &idtr, amd64.SelTSS)
	msr.Write(amd64.MSR_GS_BASE, uint64(c.self))
	msr.Write(amd64.MSR_KERNEL_GS_BASE, uint64(c.self))
	LoadWatch()
}

// pseudo is the operand of LGDT and LIDT.
func pseudo(base uintptr, limit uint16) (d [10]byte) {
	d[0], d[1] = byte(limit), byte(limit>>8)
	for i := 0; i < 8; i++ {
		d[2+i] = byte(base >> (8 * i))
	}
	return d
}

// BootG returns the g of c's trap stack, as a *runtime.g: CPU id may run on it before the runtime
// gives it threads.
func BootG(id int, c *CPU) uintptr {
	s := &c.stacks[stackTrap]
	return uintptr(goruntime.TrapG(id, stackTrap, s.lo, s.hi))
}

// LazyXMM gives #DB and #BP entries that do not save X0-X14. From then on, their handlers must not
// change these registers, or must call SaveXMM first. Soft traps never save them.
//
// Context: goroutine, with no probe armed.
func LazyXMM() {
	bp, db, _ := leanAddresses()
	setGate(amd64.VEC_BP, bp)
	setGate(amd64.VEC_DB, db)
	lazy = true
}
