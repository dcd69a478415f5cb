// Package trap is the machine's trap layer: descriptor tables, entry stubs and stacks of
// every CPU. For each of the 256 vectors it calls one Go function with the interrupted
// registers.
//
// # How a trap arrives
//
// Every gate is an interrupt gate with a stack of its own (IST): a trap may arrive when a
// goroutine's stack is full, so the CPU must not push there. The entry stack is in use for
// some forty instructions only: the stub moves the frame to the CPU's trap stack, so that
// the next trap can use the entry stack again. If the interrupted code was itself on a trap
// stack, the frame goes below the part in use. This is how traps nest.
//
//	goroutine ──#BP──▶ entry stack ──▶ trap stack: [Regs|XMM] Go handler
//	                                                  └─#PF──▶ entry stack
//	                                     trap stack: … [Regs|XMM] Go handler
//
// Then the stub makes the trap stack's g the current one (see the runtime overlay's
// sonde_trap.go) and calls the handler, which is therefore ordinary Go under the runtime's
// rules for signal handlers. IRETQ restores whatever Regs contains at the end.
//
// NMI, double fault and machine check may interrupt even the stub. They have stacks and a g
// of their own and stay there, and they trust neither GS nor FS, which may be a program's
// (takeOurs); nmi_trap.go has what else NMIs need.
//
// Traps from ring 3 are not handled here: the stub passes them to package user, which
// passes interrupts back as if they had come from the kernel. A trap that finds the trap
// stack nearly full continues on the double-fault stack, to report that.
//
// Rejected: pushing on the interrupted stack unless it is full (two paths, one never
// tested); one IST stack per vector (nesting the same vector destroys the outer frame);
// TamaGo's stubs (they do not return).
package trap

import (
	"unsafe"

	"sonde/arch/amd64"
)

// MaxCPUs is how many CPUs there can be.
const MaxCPUs = 32

// vectors is the number of vectors.
const vectors = 256

// Stacks on which a CPU handles traps, as indices of CPU.stacks.
const (
	stackTrap = iota
	stackNMI
	stackFault
	numStacks
)

// stack is one handler stack. The entry stub knows its layout.
type stack struct {
	lo, hi uintptr
	g      uintptr // the g that runs on it: *runtime.g
}

// CPU is the data that a CPU's entry stub finds at its GS base.
type CPU struct {
	self uintptr // address of this CPU; 0(GS)
	// Runtime belongs to the Go runtime's thread shim; it reads 8(GS).
	Runtime uintptr
	stacks  [numStacks]stack
	ID      uint32
	APIC    uint32
	nmi     uint32 // 1 while an NMI is handled: see nmi_trap.go
	again   uint32 // 1 if another one came meanwhile

	interrupt uintptr // see Interrupt

	// FS points here while an NMI, or #DF or #MC, is handled: the word contains g.
	nmiTLS, faultTLS uintptr

	Ring3 Ring3

	// Fields for soft traps.
	fresh   uintptr // where on the trap stack, unless it is in use, a frame begins
	choose  uintptr // addresses of functions
	loadXMM uintptr
	restore uintptr
	probes  uintptr // address of State

	State State

	gdt [amd64.GDTSlots]uint64
	tss amd64.TSS
	ist [numIST + 1]uintptr // tops of the entry stacks, for the TSS

	counts [vectors]uint64 // how often each vector arrived
}

// A State is package kprobes' memory of one CPU, which that lays out. Its first word, of 8 bytes, is 0 while the CPU
// is in no hit and in no program: one comparison asks for both.
type State struct {
	phase   uint32
	running uint32 // see OffsetRunning
	_       [stateSize - 8]byte
}

const stateSize = 256

// cpus are the CPUs that Install has been called for.
var cpus [MaxCPUs]*CPU

// All of it is in one page: see Layout. Each further page that a trap touches may take several
// times as long as its accesses under QEMU, whose TLB holds one page of each 64 while the machine
// uses little memory.
const _ = page - unsafe.Sizeof(CPU{})

// Sizes of what Area lays out, in bytes. A page below each stack is unmapped. At DataAt is the memory that package
// percpu gives out.
const (
	page      = 4096
	entrySize = page
	nmiSize   = 4 * page
	faultSize = 6 * page
	trapSize  = 16 * page
	DataSize  = 256 << 10
	DataAt    = page + 2*(page+entrySize) + (page + nmiSize) + (page + faultSize) + (page + trapSize)
	AreaSize  = DataAt + DataSize
	MaxGuards = 5
	reserve   = 8 << 10 // bytes that must be free on the trap stack when a trap comes
	nestGap   = 128     // left free below interrupted trap code: emulating its PUSH or CALL stores there
)

// Entry stacks by their number in the TSS. NMI, double fault and machine check handle the trap on
// theirs.
const (
	istTrap = iota + 1
	istDebug
	istNMI
	istFault
	numIST = istFault
)

// Area describes the memory of one CPU: AreaSize bytes at base.
type Area struct {
	CPU    *CPU
	Guards [MaxGuards]uintptr // pages that must be unmapped
}

// Layout lays out a CPU's memory at base (page-aligned and zeroed).
func Layout(base uintptr) Area {
	// Safe because: base is memory that the caller gives this CPU for good.
	c := *(**CPU)(unsafe.Pointer(&base))
	a := Area{CPU: c}
	next := base + page
	for i, size := range [MaxGuards]uintptr{entrySize, entrySize, nmiSize, faultSize, trapSize} {
		a.Guards[i] = next
		lo := next + page
		next = lo + size
		switch i {
		case 0:
			c.ist[istTrap] = next
		case 1:
			c.ist[istDebug] = next
		case 2:
			c.ist[istNMI] = c.nameAt(next)
			c.stacks[stackNMI].lo, c.stacks[stackNMI].hi = lo, next
		case 3:
			c.ist[istFault] = c.nameAt(next)
			c.stacks[stackFault].lo, c.stacks[stackFault].hi = lo, next
		case 4:
			c.stacks[stackTrap].lo, c.stacks[stackTrap].hi = lo, next-frameSize // see soft_tamago.go
		}
	}
	return a
}

// nameAt stores the address of c at the end of a stack, where the stub finds it above the frame
// that the CPU pushes, and returns the address from which the CPU pushes.
func (c *CPU) nameAt(end uintptr) (top uintptr) {
	top = end - 16 // what the CPU pushes is aligned
	// Safe because: the stack is c's, and not in use yet.
	**(**uintptr)(unsafe.Pointer(&top)) = uintptr(unsafe.Pointer(c))
	return top
}

// TrapStack returns the bounds of the stack for c's handlers. Until the first trap, c can boot on
// it.
func (c *CPU) TrapStack() (lo, hi uintptr) {
	return c.stacks[stackTrap].lo, c.stacks[stackTrap].hi
}

// Guard names the guard page that contains addr, "" if none: a stack of c has overflowed.
//
// Context: any.
func (c *CPU) Guard(addr uintptr) string {
	for i := range c.stacks {
		if s := &c.stacks[i]; addr < s.lo && addr >= s.lo-page {
			return stackNames[i]
		}
	}
	return ""
}

var stackNames = [numStacks]string{"trap stack", "NMI stack", "fault stack"}
