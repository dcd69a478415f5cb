//go:build tamago

package user

import (
	"runtime"
	"sync/atomic"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/msr"
	"sonde/arch/amd64/trap"
	"sonde/kernel/goruntime"
)

// Offsets in a g: the stack limit and its value if the g must yield, and the Context.
const (
	stackGuard   = goruntime.GStackGuard
	stackPreempt = goruntime.StackPreempt
	gUser        = goruntime.GUser
)

// enter enters ring 3 and returns when the program has left it.
func enter(c *Context)

func addresses() (fromTrap, fromSyscall uintptr)

// Run lets c run in ring 3 until an event, and returns the event, which c.Regs.Vector contains,
// too; the registers are as they were then. An interrupt has been handled when it returns; and if
// others needed the CPU, they have had it.
//
// Context: goroutine, always the same one: while it has a CPU, that may have c's x87 state.
func (c *Context) Run() Event {
	// Not prepare, so that both are inlined: see proc.(*Thread).steps.
	if !c.admissible() {
		c.prepare()
		return amd64.VEC_GP
	}
	c.fixUp()
	goruntime.SetTimer()
	enter(c)
	if event := Event(c.Regs.Vector); event < NotEntered {
		return event
	}
	return c.notEntered()
}

// notEntered does the work that enter cannot do itself.
func (c *Context) notEntered() Event {
	for {
		switch Event(c.Regs.Vector) {
		case newGoroutine:
			goruntime.SetUser(&c.user)
			c.user.Left = rdtsc() // the time before that was not c's
		case elsewhere:
			goruntime.Bind(c.cpus.Load())
		case NotEntered:
			runtime.Gosched() // the caller may have no stack check of its own
			return NotEntered
		default:
			return Event(c.Regs.Vector)
		}
		goruntime.SetTimer()
		enter(c)
	}
}

func rdtsc() uint64

// Here returns the CPU on which the caller runs: one of those that c is bound to.
//
// Context: the goroutine that runs c.
func (c *Context) Here() int {
	if cpus := c.cpus.Load(); cpus != 0 {
		goruntime.Bind(cpus)
	}
	return int(trap.Self().ID)
}

// wake is the function given to Init.
var wake func(id int)

// Kick makes Run return soon, or not enter, until Kicked is called. It may be called
// while c runs.
//
// Context: any.
func (c *Context) Kick() {
	atomic.OrUint32(&c.kick, kicked) // a barrier as well: see the package comment
	for id := range trap.MaxCPUs {
		if trap.Program(id) == uintptr(unsafe.Pointer(c)) {
			wake(id)
		}
	}
}

// Init prepares this package; interrupt sends CPU id an interrupt. Before a program runs, the caller
// has to write all alternatives.
//
// Context: goroutine, once.
func Init(cpuid func(leaf, sub uint32) (a, b, c, d uint32), interrupt func(id int)) []Alternative {
	cr4 = features(cpuid)
	if avx = hasAVX(cpuid); avx {
		cr4 |= amd64.CR4_OSXSAVE
	}
	wake = interrupt
	return alternatives()
}

// alternatives returns what has to be written in place of what is linked.
func alternatives() (all []Alternative) {
	start, end, routines := segmentAddresses()
	// Safe because: it is code, in one piece.
	code := unsafe.Slice((*byte)(unsafe.Pointer(start)), end-start)
	if !HasFSGSBASE() {
		all = callsFor(code, start, routines)
	}
	if avx {
		const size = 16 // of a function at least: they are aligned
		save := goruntime.FXSave()
		all = append(all, xsaveFor(code, start)...)
		all = append(all, xsaveFor(unsafe.Slice((*byte)(unsafe.Pointer(save)), size), save)...)
	}
	return all
}

// HasFSGSBASE reports whether programs may use the instructions of FSGSBASE.
//
// Context: any, after Init.
func HasFSGSBASE() bool { return cr4&amd64.CR4_FSGSBASE != 0 }

// segmentAddresses returns where the way to ring 3 and back begins and ends, and the routines of
// callsFor.
func segmentAddresses() (start, end uintptr, routines [4]uintptr)

// features are the bits of CR4 that this CPU has and that programs need or that protect the kernel
// from them; and MCE, without which a machine check resets the CPU silently.
func features(cpuid func(leaf, sub uint32) (a, b, c, d uint32)) (bits uint64) {
	if _, _, _, d := cpuid(1, 0); d>>7&1 != 0 {
		bits = amd64.CR4_MCE
	}
	if maxLeaf, _, _, _ := cpuid(0, 0); maxLeaf < 7 {
		return bits
	}
	_, b, c, _ := cpuid(7, 0)
	for _, f := range [...]struct{ has, bit uint32 }{
		{b & 1, amd64.CR4_FSGSBASE}, {b >> 7 & 1, amd64.CR4_SMEP}, {b >> 20 & 1, amd64.CR4_SMAP}, {c >> 2 & 1, amd64.CR4_UMIP},
	} {
		if f.has != 0 {
			bits |= uint64(f.bit)
		}
	}
	return bits
}

// Protect sets the bits of CR4 that InitCPU wants, on this CPU. It runs before nearly everything
// else: an emulator translates again all code that ran before the bits changed.
//
// Context: before the runtime.
func Protect(cpuid func(leaf, sub uint32) (a, b, c, d uint32)) { setCR4(features(cpuid)) }

// cr4 is what InitCPU sets.
var cr4 uint64

// programMask is the flags that SYSCALL clears.
const programMask = amd64.RFLAGS_TF | amd64.RFLAGS_IF | amd64.RFLAGS_DF | amd64.RFLAGS_IOPL | amd64.RFLAGS_NT | amd64.RFLAGS_AC

// InitCPU prepares this CPU for programs. root is the address of the kernel's tables.
//
// Context: interrupt, after Init.
func InitCPU(root uint64) {
	r := &trap.Self().Ring3
	r.CR3 = root
	r.Wanted = goruntime.Wanted(int(trap.Self().ID))
	var syscall uintptr
	r.Trap, syscall = addresses()
	r.Break, _ = breakAddresses()
	msr.Write(amd64.MSR_STAR, amd64.STAR)
	msr.Write(amd64.MSR_LSTAR, uint64(syscall))
	trap.SetCallEntry(syscall)
	msr.Write(amd64.MSR_CSTAR, 0) // for 32-bit code, which cannot run
	msr.Write(amd64.MSR_FMASK, programMask)
	enableSyscall()
	setCR4(cr4)
	if avx {
		xsetbv(components)
	}
}

// xsetbv sets XCR0.
func xsetbv(components uint64)

// enableSyscall sets EFER.SCE.
func enableSyscall()

// setCR4 sets these bits, and empties the TLB: booting left entries for addresses that are
// programs' now.
func setCR4(bits uint64)

// LeaveTables loads the kernel's tables, at kernel, if this CPU has loaded those at root, which are
// about to be freed.
//
// Context: interrupt, or with interrupts off: it is nosplit for that.
//
//go:nosplit
func LeaveTables(root, kernel uint64) {
	if r := &trap.Self().Ring3; r.CR3 == root {
		r.CR3, r.Generation = kernel, 0
		loadCR3(kernel)
	}
}

func loadCR3(root uint64)
