// Package goos is the interface between the Go runtime and the machine: TamaGo's contract
// (github.com/usbarmory/tamago/goos), which its drivers know.
//
// It is an overlay file because the stock standard library has no such package. The
// functions have no body here; the kernel provides them by linkname.
package goos

import "unsafe"

// The memory the runtime may use, one contiguous range of virtual addresses.
// Written once at boot, before the runtime starts.
var (
	RamStart uint
	RamSize  uint
)

// GetRandomData fills b with random bytes.
//
//go:linkname GetRandomData
func GetRandomData(b []byte)

// Nanotime returns nanoseconds since boot. It is nosplit.
//
//go:linkname Nanotime
func Nanotime() int64

// Printk writes one byte to the console. It is nosplit.
//
//go:linkname Printk
func Printk(c byte)

// Set before the runtime starts; every one is nosplit.
var (
	// Exit ends the machine.
	Exit func(code int32)
	// Idle halts this CPU until the next interrupt. It is called with
	// interrupts off and returns with interrupts off.
	Idle func(until int64)
	// ProcID returns the index of this CPU.
	ProcID func() uint64
	// Task makes the next parked CPU call fn on the stack that ends at sp.
	Task func(sp, mp, gp, fn unsafe.Pointer)
	// Wake ends the Idle of CPU procid.
	Wake func(procid uint64)
)

// Beyond TamaGo's contract, since this runtime multiplexes its threads (Ms)
// on the CPUs. Set before the runtime starts.
var (
	// Alarm makes the timer interrupt this CPU at the given Nanotime
	// (math.MaxInt64: never). It is nosplit.
	Alarm func(at int64)
	// Random fills b with random bytes. It is nosplit. GetRandomData is left to
	// TamaGo's drivers, some of which bring one.
	Random func(b []byte)
	// CPUs is how many CPUs can run Go code.
	CPUs int
	// Program reports what runs in ring 3 on CPU i, 0 for nothing: to notice anything
	// it has to be sent an interrupt (Wake). It is nosplit.
	Program func(i int) uintptr
	// WallOffset plus Nanotime is the Unix time in nanoseconds.
	WallOffset int64
)
