package proc

import (
	"time"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/linux/space"
)

// CPU is a thread's registers, and the way to let its program run. Only the
// thread's goroutine uses it, apart from Kick.
type CPU interface {
	// Regs are the general registers. After a system call AX is its number.
	Regs() *amd64.Regs
	// Bases of the segments FS and GS.
	Bases() (fs, gs *uint64)
	// DenyTSC makes RDTSC and RDTSCP raise #GP, or lets the program execute them again; TSCDenied
	// tells which.
	DenyTSC(deny bool)
	TSCDenied() bool
	// FP is the FXSAVE image of the floating-point registers, or the XSAVE image, and has room
	// to append four bytes; it is FPSize bytes long. SetFP sets them by such an image or by
	// FXSAVE's, and fails if the processor would refuse it; ResetFP sets them as a program
	// finds them at its start.
	FP() []byte
	FPSize() int
	SetFP(image []byte) error
	ResetFP()
	// Address is the address of a page fault.
	Address() uint64
	// Debug is what DR6 was at the last #DB.
	Debug() uint64
	// Run lets the program run in an address space until something happens.
	Run(in *space.Space) Event
	// Kick makes Run return soon, or the next Run at once. Context: any goroutine.
	Kick()
	// Clone is a CPU with the same registers.
	Clone() CPU
	// Reset sets all registers as a program finds them at its start.
	Reset(ip, sp uint64)
	// Used returns how long the program has run, and how long the kernel has run for it,
	// from a return of Run to the next Run. Time in which its goroutine has no CPU does not
	// count. Context: any.
	Used() (user, system time.Duration)
	// Bind restricts the program to these CPUs, a bit each, from the next Run on; 0 means
	// all CPUs. Context: any.
	Bind(cpus uint32)
	// Here returns the number of the CPU that the program runs on.
	Here() int
	// Probe lets hits of probes be handled without Run returning: thread is passed to what handles
	// them, 0: none, and returns is the IP that a SYSCALL leaves which is one. Reset and Clone forget it.
	Probe(thread uintptr, returns uint64)
	// Breaks says where a table is in which breakpoints are looked for, an *atomic.Pointer[user.Breaks]; nil: nowhere.
	// Reset and Clone forget it.
	Breaks(at unsafe.Pointer)
}

// Event is why Run returned: a number below 32 is an exception, another below 256 an
// interrupt, which has been handled.
type Event int

// Further events.
const (
	SystemCall Event = 0x100
	NotRun     Event = 0x101 // something else wants to run first
)
