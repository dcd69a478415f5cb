//go:build tamago

package user

import (
	"errors"
	"runtime"
	"sync/atomic"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kernel/goruntime"
)

// Where in a g the stack check looks, what it finds if the g is to yield, and where in a g
// its Context is.
const (
	stackGuard   = goruntime.GStackGuard
	stackPreempt = goruntime.StackPreempt
	gUser        = goruntime.GUser
)

// enter is Run's way to ring 3 and back.
func enter(c *Context)

func addresses() (fromTrap, fromSyscall uintptr)

// Run lets c run in ring 3 until something happens, and returns what: it is in
// c.Regs.Vector, too, with the registers as they were then. An interrupt has been served
// when it returns; and where the CPU is wanted by others they have had it.
//
// Context: goroutine, always the same one: while it has a CPU, that may have c's x87 state.
func (c *Context) Run() Event {
	// Not prepare, so that both are inlined: see proc.(*Thread).steps.
	if !c.admissible() {
		c.prepare()
		return amd64.VEC_GP
	}
	c.settle()
	goruntime.SetTimer()
	enter(c)
	if event := Event(c.Regs.Vector); event < NotEntered {
		return event
	}
	return c.notEntered()
}

// notEntered does what enter asks for that it cannot do itself.
func (c *Context) notEntered() Event {
	for {
		switch Event(c.Regs.Vector) {
		case stranger:
			goruntime.SetUser(&c.user)
			c.user.Left = rdtsc() // what came before was not for c
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

// Here returns on which CPU the caller runs: one of those that c is bound to.
//
// Context: the goroutine that runs c.
func (c *Context) Here() int {
	if cpus := c.cpus.Load(); cpus != 0 {
		goruntime.Bind(cpus)
	}
	return int(trap.Self().ID)
}

// wake is what Init was told.
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

// ErrNoFSGSBASE says why there can be no programs.
var ErrNoFSGSBASE = errors.New("user: the processor lacks FSGSBASE")

// Init prepares this package; interrupt sends CPU id an interrupt.
//
// Context: goroutine, once.
// Errors: ErrNoFSGSBASE.
func Init(cpuid func(leaf, sub uint32) (a, b, c, d uint32), interrupt func(id int)) error {
	if cr4 = features(cpuid); cr4&amd64.CR4_FSGSBASE == 0 {
		return ErrNoFSGSBASE
	}
	wake = interrupt
	return nil
}

// features are the bits of CR4 that programs need or are kept in bounds by, and that
// this CPU has; and the one without which a machine check resets it, silently.
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

// Protect sets the bits of CR4 that InitCPU wants, on this CPU. It comes before nearly
// everything else: code that ran before they change an emulator translates again.
//
// Context: before the runtime.
func Protect(cpuid func(leaf, sub uint32) (a, b, c, d uint32)) { setCR4(features(cpuid)) }

// cr4 is what InitCPU sets.
var cr4 uint64

// programMask is what SYSCALL clears in the flags.
const programMask = amd64.RFLAGS_TF | amd64.RFLAGS_IF | amd64.RFLAGS_DF | amd64.RFLAGS_IOPL | amd64.RFLAGS_NT | amd64.RFLAGS_AC

// InitCPU makes this CPU able to run programs. root is where the kernel's tables are.
//
// Context: interrupt, after Init.
func InitCPU(root uint64) {
	r := &trap.Self().Ring3
	r.CR3 = root
	r.Wanted = goruntime.Wanted(int(trap.Self().ID))
	var syscall uintptr
	r.Trap, syscall = addresses()
	wrmsr(amd64.MSR_STAR, amd64.STAR)
	wrmsr(amd64.MSR_LSTAR, uint64(syscall))
	wrmsr(amd64.MSR_CSTAR, 0) // 32-bit code, which there is none of
	wrmsr(amd64.MSR_FMASK, programMask)
	enableSyscall()
	setCR4(cr4)
}

func wrmsr(msr uint32, v uint64)

// enableSyscall sets EFER.SCE.
func enableSyscall()

// setCR4 sets these bits, and empties the TLB: the kernel's boot left entries for all
// tables in it, of addresses that are programs' now.
func setCR4(bits uint64)

// LeaveTables loads the kernel's tables, at kernel, if this CPU has loaded those at
// root: they are about to go.
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
