// Package user runs programs in ring 3. A program's thread is a Context, and a
// goroutine that calls Run again and again:
//
//	for {
//		switch event := c.Run(); event { … }
//	}
//
// Run is a function call that goes to ring 3 and returns when something happens there:
// a system call, an exception, an interrupt. So page faults and system calls are
// served by ordinary Go, which may block.
//
// # The way there and back
//
//	Run ──▶ enter ──IRETQ or SYSRET──▶ ring 3
//	         ╎                           │ SYSCALL           ▶ fromSyscall ─┐
//	 Run ◀── back ◀── leave ◀────────────┤ trap ▶ trap.entry ▶ fromTrap ────┤
//	          ▲         ▲                └──────────────────────────────────┘
//	          │         └ an interrupt: ▶ trap.entry, as from ring 0 ▶ its handler ┐
//	          └────────────────────────────────────────────────────────────────────┘
//
// enter keeps SP, BP and FS in the Context and loads what is the program's. leave does
// the opposite: it stands on the goroutine's stack again, just where enter left it. An
// exception simply returns to Run. An interrupt is given to trap.entry
// with a frame that says it came at back, in ring 0, with interrupts off. So the
// handlers of timer, IPIs and devices see what they always see, and the CPU may be
// held, preempted and asked as anywhere in the kernel.
//
// The page table of a program holds the kernel's mappings as well (package paging,
// share.go), so CR3 is loaded on the way there only, and only if it or the table has
// changed. It stays when the goroutine goes on with something else.
//
// # Who wants this CPU
//
// Ring 3 has no stack checks, so a goroutine there is asked to yield by an interrupt.
// enter first stores the Context in the CPU's Ring3.Context, by XCHG, and then looks
// whether anybody wants something: the runtime (preemption), the thread shim (a thread
// waits for a CPU), who called Kick, who changed the table's generation. These
// store what they want first, and then look at Ring3.Context. One of the two sees the
// other. What is sent after that finds interrupts off until ring 3 is reached.
//
// # What cannot be trusted
//
// GS is swapped by SWAPGS and FS by WRFSBASE, and NMI, #MC and #DF may come at any
// instruction here. They rely on Ring3.Context only: FS may be a program's while it is
// not 0. All else is held off: interrupts are off, and nothing here faults. IRETQ
// and SYSRET would fault for an IP outside the lower half of the address space, with the
// program's GS: Run never enters with one. Nor can a program choose CS, SS or flags that
// are not a program's.
//
// Rejected: entersyscall as around a blocking system call of Go (the thread gives up
// its P and takes one again, about as long as the whole way there and back); a flag that
// says whether SYSRET may be used (a register that Go has changed in between is then
// forgotten; whether CX and R11 are what SYSRET makes of them is seen from them).
//
// Source: Intel SDM vol. 3A, "System Management Instructions" and "Fast System Calls in
// 64-Bit Mode"; vol. 2B, "SYSRET" and "SWAPGS". The loop is that of gVisor's ring0.
package user

import (
	"errors"
	"sync/atomic"
	"unsafe"

	"sonde/arch/amd64"
)

// Event is why Run has returned: a vector, or one of these.
type Event uint64

const (
	SystemCall Event = 0x100 // SYSCALL; Regs.Err is the number, which Regs.AX will be overwritten
	NotEntered Event = 0x101 // the CPU is wanted, or Kick was called
)

// Exception reports whether e is an exception; what else is below SystemCall is an
// interrupt, which has been served.
func (e Event) Exception() bool { return e < amd64.Exceptions }

// End is where a program's addresses end: the last page of the lower half is
// left out, because a SYSCALL at its end would return outside.
const End = 1<<47 - 4096

// fxSize is the size of what FXSAVE stores.
const fxSize = 512

// Context is a thread's state while it is not in ring 3. New makes one.
//
// It has no pointers: the allocator then puts it where it is aligned as FXSAVE needs.
type Context struct {
	Regs           amd64.Regs // of which Vector is the Event
	FSBase, GSBase uint64
	CR2            uint64 // the address of the last page fault
	DR6            uint64 // what the last #DB was about

	table      uint64 // what CR3 is to be
	generation uintptr

	// Of the goroutine in Run:
	kernelSP, kernelBP, kernelFS uint64

	kick   uint32 // not 0: do not enter
	sysret uint32 // not 0: enter by SYSRET
	x87    uint32 // not 0: the x87's state is in fx, otherwise it is the initial one
	steps  uint32 // not 0: this CPU has the IDT for steps, see trap/debug_step_trap.go

	// In ticks of the TSC: when it last went to ring 3 and came back, and how long it has
	// run there and elsewhere. Kept by enter and leave: read in Go around them, the clock is
	// a tenth of a short system call.
	entered, left      uint64
	program, elsewhere uint64

	id uint64 // no other Context has it, or had it

	_  [aligned]byte
	fx [fxSize]byte // MXCSR and XMM registers always
}

// aligned is how many bytes align fx to 16, and Context to its size class.
const aligned = 1024 - fxSize - unsafe.Sizeof(amd64.Regs{}) - 14*8 - 4*4

// never is the generation of a table that does not change.
var never atomic.Uint64

// ids is the number given out last.
var ids atomic.Uint64

// New returns a Context as a program begins with it, but for IP, SP and tables.
//
// Context: goroutine.
func New() *Context {
	c := new(Context)
	c.id = ids.Add(1)
	c.Regs.CS, c.Regs.SS = amd64.SelUserCode, amd64.SelUserData
	c.Regs.Flags = amd64.RFLAGS_FIXED | amd64.RFLAGS_IF
	c.Use(0, &never)
	c.resetX87()
	c.setMXCSR(amd64.MXCSR)
	return c
}

// Clone returns a copy of c, which is not running: for fork and clone. It has not been
// kicked.
//
// Context: goroutine.
func (c *Context) Clone() *Context {
	n := New()
	id := n.id
	*n = *c
	n.id, n.kick = id, 0
	n.program, n.elsewhere = 0, 0
	return n
}

// Reset makes c as New does, but for how long it has run.
//
// Context: goroutine, while c is not running.
func (c *Context) Reset() {
	n := New()
	n.entered, n.left, n.program, n.elsewhere = c.entered, c.left, c.program, c.elsewhere
	*c = *n
}

// Ticks returns how long c has been in ring 3, and out of it between one Run and the
// next, in ticks of the TSC.
//
// Context: any.
func (c *Context) Ticks() (inside, outside uint64) {
	return atomic.LoadUint64(&c.program), atomic.LoadUint64(&c.elsewhere)
}

// Forgo leaves the time until now, a reading of the TSC, out of what c was outside.
//
// Context: goroutine, while c is not running.
func (c *Context) Forgo(now uint64) { c.left = now }

// Use makes the tables at root those that c runs on. generation, which must live
// as long as c runs, counts their changes: a CPU that enters ring 3 forgets older
// translations if it has changed.
//
// Context: goroutine, while c is not running.
func (c *Context) Use(root uint64, generation *atomic.Uint64) {
	c.table, c.generation = root, uintptr(unsafe.Pointer(generation))
}

// Kicked reports whether Kick has been called since the last Kicked. Until it is asked
// Run does not enter.
//
// Context: any.
func (c *Context) Kicked() bool { return atomic.SwapUint32(&c.kick, 0) != 0 }

// The flags that are a program's own.
const programFlags = amd64.RFLAGS_CF | amd64.RFLAGS_PF | amd64.RFLAGS_AF | amd64.RFLAGS_ZF | amd64.RFLAGS_SF |
	amd64.RFLAGS_TF | amd64.RFLAGS_DF | amd64.RFLAGS_OF | amd64.RFLAGS_NT | amd64.RFLAGS_RF | amd64.RFLAGS_AC | amd64.RFLAGS_ID

// prepare makes c fit to be entered, and reports whether it is: not with an IP or a
// segment's base that no program can have, which becomes the #GP that they would cause.
func (c *Context) prepare() bool {
	if !c.admissible() {
		c.Regs.Vector, c.Regs.Err = amd64.VEC_GP, 0
		return false
	}
	c.settle()
	return true
}

func (c *Context) admissible() bool {
	return c.Regs.IP < End && canonical(c.FSBase) && canonical(c.GSBase)
}

// settle makes the registers those of a program, and chooses how to enter.
func (c *Context) settle() {
	r := &c.Regs
	r.CS, r.SS = amd64.SelUserCode, amd64.SelUserData
	r.Flags = r.Flags&programFlags | amd64.RFLAGS_FIXED | amd64.RFLAGS_IF
	c.sysret = 0
	if r.CX == r.IP && r.R11 == r.Flags && r.Flags&(amd64.RFLAGS_TF|amd64.RFLAGS_RF) == 0 {
		c.sysret = 1
	}
}

func canonical(addr uint64) bool { return uint64(int64(addr)<<16>>16) == addr }

// ErrFP is returned by SetFP.
var ErrFP = errors.New("user: no state of FXSAVE")

// Where in fx something is. Source: Intel SDM vol. 1, "FXSAVE Area".
const (
	fxFSW    = 2
	fxMXCSR  = 24
	fxST     = 32
	fxXMM    = 160
	mxcsrMax = 0xffff // bits beyond these make FXRSTOR fault
)

// FP returns c's floating-point state as FXSAVE stores it. It is good until Run.
//
// Context: goroutine, while c is not running.
func (c *Context) FP() []byte {
	if c.x87 == 0 {
		c.resetX87()
	}
	return c.fx[:]
}

// SetFP makes state, as FP returns it, c's. Bits of MXCSR that do not exist are cleared.
//
// Context: goroutine, while c is not running.
// Errors: ErrFP the length is wrong.
func (c *Context) SetFP(state []byte) error {
	if len(state) != fxSize {
		return ErrFP
	}
	copy(c.fx[:], state)
	c.setMXCSR(c.mxcsr() & mxcsrMax)
	c.x87 = 1
	if c.x87Initial() {
		c.x87 = 0 // so that enter need not load it: each handler of a signal ends here
	}
	return nil
}

// x87Initial reports whether what fx has of the x87 is what resetX87 stores.
func (c *Context) x87Initial() bool {
	return *c.at32(0) == amd64.FCW && [fxMXCSR - 4]byte(c.fx[4:]) == [fxMXCSR - 4]byte{} &&
		[fxXMM - fxST]byte(c.fx[fxST:]) == [fxXMM - fxST]byte{}
}

// resetX87 stores the initial state of the x87, and keeps MXCSR and XMM registers.
func (c *Context) resetX87() {
	mxcsr := c.mxcsr()
	clear(c.fx[:fxXMM])
	*c.at32(0) = amd64.FCW
	c.setMXCSR(mxcsr)
}

func (c *Context) at32(off int) *uint32 { return (*uint32)(unsafe.Pointer(&c.fx[off])) }

func (c *Context) mxcsr() uint32 { return *c.at32(fxMXCSR) }

func (c *Context) setMXCSR(v uint32) { *c.at32(fxMXCSR) = v }
