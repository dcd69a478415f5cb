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
// enter saves SP, BP and FS in the Context and loads the program's registers. leave does
// the reverse; it runs on the goroutine's stack, exactly where enter left it. An exception
// simply returns from Run. An interrupt is passed to trap.entry with a frame that says it
// came at back, in ring 0, with interrupts off. So the handlers of timer, IPIs and devices
// see what they always see, and the CPU can be stopped, preempted and queried as anywhere
// in the kernel.
//
// A short system call, such as getpid, does not return from Run: fromSyscall jumps to answer, which
// calls Go with interrupts off and returns to ring 3 (short.go). To everything else, the program has
// not left ring 3.
//
// A program's page table also has the kernel's mappings (package paging, share.go), so CR3
// is loaded only on the way to ring 3, and only if it or the table has changed. It stays
// loaded when the goroutine does something else.
//
// # Hits that do not leave
//
// A breakpoint, a step's end or a SYSCALL of a thread that Probe was called for goes from fromBreak, fromTrap or
// fromSyscall to code that calls a Go function on the CPU's trap stack, as the entry of a trap from
// ring 0 does. The registers are in the Context already. If the function has done everything, IRETQ
// goes back to ring 3; if not, leave follows as if there had been no call. The Context stays that of
// the CPU, so requests for it need no check: their interrupt comes after the IRETQ.
//
// # Requests for this CPU
//
// Ring 3 has no stack checks, so a goroutine there is asked to yield by an interrupt. enter
// first stores the Context in the CPU's Ring3.Context, by XCHG, and then checks for
// requests: from the runtime (preemption), the thread shim (a thread waits for a CPU), a
// caller of Kick, or a change of the table's generation. Each of these stores its request
// first and then reads Ring3.Context, so one of the two sides sees the other. An interrupt
// sent after that is held off until ring 3 is reached.
//
// # The x87, and AVX
//
// The kernel does not use the x87, nor the upper halves of AVX's registers: it is compiled
// for SSE2, whose instructions leave these as they are. So a program's x87 and MMX registers
// and its upper halves stay loaded while the goroutine keeps its CPU, through system calls
// and everything else, because checking whether a program uses them would make each call
// more expensive. When the goroutine loses its CPU, the runtime stores them
// (goruntime.User); enter loads them if another Context has been on this CPU since, or this
// one on another. The kernel does use XMM registers: leave stores them.
//
// OSXSAVE is set in CR4 only after the Go runtime has looked for what it may use.
//
// # What cannot be trusted here
//
// GS is swapped by SWAPGS and FS by WRFSBASE, and NMI, #MC and #DF may come at any
// instruction here. They rely on Ring3.Context only: while it is not 0, FS may be a
// program's. Nothing else can interrupt: interrupts are off, and nothing here faults. IRETQ
// and SYSRET would fault, with the program's GS, for an IP outside the lower half of the
// address space, so Run never enters with one. A program cannot choose CS, SS or flags that
// a program must not have.
//
// Rejected: entersyscall, as around a blocking system call in Go (the thread gives up its P
// and takes one again, which takes about as long as the whole way to ring 3 and back); a
// flag that says whether SYSRET may be used (it misses a register that Go has changed in
// between; CX and R11 themselves show whether SYSRET gives the right values).
//
// Source: Intel SDM vol. 3A, "System Management Instructions" and "Fast System Calls in
// 64-Bit Mode"; vol. 2B, "SYSRET" and "SWAPGS". The loop is that of gVisor's ring0.
package user

import (
	"sync/atomic"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kernel/goruntime"
)

// Event is the reason why Run has returned: a vector, or one of these.
type Event uint64

const (
	SystemCall Event = 0x100 // SYSCALL; Regs.Err is the number, which Regs.AX will be overwritten
	NotEntered Event = 0x101 // others need the CPU, or Kick was called
)

// Exception reports whether e is an exception; any other value below SystemCall is an interrupt,
// which has been handled.
func (e Event) Exception() bool { return e < amd64.Exceptions }

// End is the end of a program's addresses: the last page of the lower half is left out, because a
// SYSCALL at its end would return outside.
const End = 1<<47 - 4096

// Reasons for which enter returns to Run without entering.
const (
	newGoroutine Event = 0x102 // the goroutine is new to the Context
	elsewhere    Event = 0x103 // this CPU is not one that it is bound to
)

// Bits of Context.kick.
const (
	kicked = 1 << iota // do not enter
	bound              // enter only on certain CPUs
)

// Context is a thread's state while it is not in ring 3. New makes one.
//
// It has no pointers: the allocator then puts it where it is aligned as XSAVE needs.
type Context struct {
	user goruntime.User // the x87's state and AVX's, for the scheduler; Left is the time when it left ring 3

	// frame is for hits: with it, Regs are what a trap's are. It must lie right before them.
	frame trap.Frame

	Regs           amd64.Regs // Vector is the Event
	FSBase, GSBase uint64
	CR2            uint64 // the address of the last page fault
	DR6            uint64 // the cause of the last #DB

	table      uint64 // the value for CR3
	generation uintptr

	// Of the goroutine that calls Run:
	kernelSP, kernelBP, kernelFS uint64

	kick   uint32        // not 0: something has to be checked before entering
	cpus   atomic.Uint32 // the CPUs that it is bound to, a bit each; 0: all
	sysret uint32        // not 0: enter by SYSRET
	steps  uint32        // not 0: this CPU has loaded the IDT for steps, see trap/debug_step_trap.go

	// In ticks of the TSC: when it last went to ring 3, and how long it has run there and
	// elsewhere. Kept by enter and leave: reading the clock in Go around them takes a tenth of a
	// short system call.
	entered            uint64
	program, elsewhere uint64

	id uint64 // unique, also over time

	// Of hits that are handled where they arrive: see Probe.
	probes  uintptr
	breaks  uintptr // *atomic.Pointer[Breaks]; 0: none
	returns uint64

	// x87 is the CPU, a *trap.CPU, where c ran last: if no other Context ran there since, what
	// user.X87 is for is in the registers there. 0: it is in user.X87.
	x87 uint64

	// tsd is CR4_TSD if c may not read the TSC. CR4 follows with the x87, as seldom.
	tsd uint64

	_  [aligned]byte
	fx [fpRoom]byte // MXCSR and XMM registers; the rest is used by FP
}

// aligned is how many bytes align fx to 8, and make Context fill its size class.
const aligned = sizeClass - fpRoom - unsafe.Sizeof(goruntime.User{}) - unsafe.Sizeof(trap.Frame{}) - unsafe.Sizeof(amd64.Regs{}) - 18*8 - 4*4

// sizeClass is one of Go's allocator, and a multiple of 64.
const sizeClass = 2688

// never is the generation of a table that does not change.
var never atomic.Uint64

// ids is the number given out last.
var ids atomic.Uint64

// New returns a Context in the initial state of a program, except IP, SP and tables.
func New() *Context {
	c := new(Context)
	c.id = ids.Add(1)
	c.Regs.CS, c.Regs.SS = amd64.SelUserCode, amd64.SelUserData
	c.Regs.Flags = amd64.RFLAGS_FIXED | amd64.RFLAGS_IF
	c.Use(0, &never)
	c.ResetFP()
	return c
}

// Clone returns a copy of c, for fork and clone. The copy is not kicked, and is bound as c is.
//
// Context: the goroutine that runs c, or any while that does not run.
func (c *Context) Clone() *Context {
	c.saveLazy()
	n := New()
	n.user.X87, n.fx, n.Regs = c.user.X87, c.fx, c.Regs
	n.FSBase, n.GSBase, n.table, n.generation = c.FSBase, c.GSBase, c.table, c.generation
	n.tsd = c.tsd
	n.Bind(c.cpus.Load())
	return n
}

// DenyTSC lets c read the time-stamp counter no more, or again: RDTSC and RDTSCP raise #GP. It lasts over Reset.
//
// Context: the goroutine that runs c, or any while that does not run.
func (c *Context) DenyTSC(deny bool) {
	c.saveLazy()
	if c.x87, c.tsd = 0, 0; deny {
		c.tsd = amd64.CR4_TSD
	}
}

// TSCDenied returns what DenyTSC was given last.
//
// Context: as DenyTSC.
func (c *Context) TSCDenied() bool { return c.tsd != 0 }

// Reset sets c to the state of New, but keeps its CPU time and the CPUs that it is bound to.
//
// Context: as Clone.
func (c *Context) Reset() {
	n := New()
	c.ResetFP()
	c.Regs = n.Regs
	c.FSBase, c.GSBase, c.table, c.generation = 0, 0, n.table, n.generation
	c.Probe(0, 0)
	c.Break(nil)
}

// Ticks returns how long c has been in ring 3, and out of it between one Run and the
// next, in ticks of the TSC.
//
// Context: any.
func (c *Context) Ticks() (inside, outside uint64) {
	return atomic.LoadUint64(&c.program), atomic.LoadUint64(&c.elsewhere)
}

// Use sets the tables, at root, with which c runs. generation, which must live as long as c runs,
// counts their changes: a CPU that enters ring 3 discards older translations if it has changed.
//
// Context: goroutine, while c is not running.
func (c *Context) Use(root uint64, generation *atomic.Uint64) {
	c.table, c.generation = root, uintptr(unsafe.Pointer(generation))
}

// Kicked reports whether Kick has been called since the last Kicked. Until it is called, Run does
// not enter.
//
// Context: any.
func (c *Context) Kicked() bool { return atomic.AndUint32(&c.kick, ^uint32(kicked))&kicked != 0 }

// Bind restricts c to these CPUs in ring 3, a bit each; 0: all. If it runs there now, it stays
// until the next event: see Kick.
//
// Context: any.
func (c *Context) Bind(cpus uint32) {
	c.cpus.Store(cpus)
	if cpus != 0 {
		atomic.OrUint32(&c.kick, bound)
	} else {
		atomic.AndUint32(&c.kick, ^uint32(bound))
	}
}

// The flags that a program can change.
const programFlags = amd64.RFLAGS_CF | amd64.RFLAGS_PF | amd64.RFLAGS_AF | amd64.RFLAGS_ZF | amd64.RFLAGS_SF |
	amd64.RFLAGS_TF | amd64.RFLAGS_DF | amd64.RFLAGS_OF | amd64.RFLAGS_NT | amd64.RFLAGS_RF | amd64.RFLAGS_AC | amd64.RFLAGS_ID

// Probe lets what SetHits has set handle what happens to c in ring 3 where it arrives: breakpoints
// and the ends of single steps, and a SYSCALL that leaves returns as IP. thread is passed on; 0: none
// of it. Reset and Clone forget it.
//
// Context: as Clone.
func (c *Context) Probe(thread uintptr, returns uint64) { c.probes, c.returns = thread, returns }

// Break says in which table breakpoints of c are looked for; nil: in none. It must live as long as c may use it. Reset and
// Clone forget it.
//
// Context: as Clone.
func (c *Context) Break(at *atomic.Pointer[Breaks]) { c.breaks = uintptr(unsafe.Pointer(at)) }

// FixUp makes the registers of a hit, which are a Context's, valid for a program. If it returns
// false, the goroutine has to do that: no program can have such an IP.
//
// Context: trap.
func FixUp(r *amd64.Regs) bool {
	r.CS, r.SS = amd64.SelUserCode, amd64.SelUserData
	r.Flags = r.Flags&programFlags | amd64.RFLAGS_FIXED | amd64.RFLAGS_IF
	return r.IP < End
}

// prepare makes c ready to be entered, and reports whether it is: an IP or a segment base that no
// program can have becomes the #GP that it would cause.
func (c *Context) prepare() bool {
	if !c.admissible() {
		c.Regs.Vector, c.Regs.Err = amd64.VEC_GP, 0
		return false
	}
	c.fixUp()
	return true
}

func (c *Context) admissible() bool {
	const upper = ^uint64(1<<47 - 1)
	return c.Regs.IP < End && ((c.FSBase|c.GSBase)&upper == 0 || canonical(c.FSBase) && canonical(c.GSBase))
}

// fixUp makes the registers valid for a program, and chooses how to enter.
func (c *Context) fixUp() {
	r := &c.Regs
	r.CS, r.SS = amd64.SelUserCode, amd64.SelUserData
	r.Flags = r.Flags&programFlags | amd64.RFLAGS_FIXED | amd64.RFLAGS_IF
	c.sysret = 0
	if r.CX == r.IP && r.R11 == r.Flags && r.Flags&(amd64.RFLAGS_TF|amd64.RFLAGS_RF) == 0 {
		c.sysret = 1
	}
}

func canonical(addr uint64) bool { return uint64(int64(addr)<<16>>16) == addr }
