package uprobes

import (
	"sync/atomic"

	"sonde/arch/amd64"
)

// Type says what kind of probe a callback is about.
type Type int

// The kinds.
const (
	UPTY_UPROBE Type = iota
	UPTY_URETPROBE
)

// Uprobe is a probe on an instruction of a process; with Path, on one of a file, in all
// processes that map it now or later. The exported fields are the caller's and stay as they
// are while it is registered.
type Uprobe struct {
	Pid   int    // of the process; with Path, 0 is all
	Vaddr uint64 // of the instruction, without Path
	// Path is the file, if any; the instruction is at Offset from its beginning or,
	// with Symbol, from that function's.
	Path   string
	Symbol string
	Offset uint64
	Comm   string // with Path: only in processes of this name
	// Handler is called before the instruction is executed, in the thread that hit it,
	// with its registers, which it may change. It may block. A process that is killed
	// waits for its handlers, but not for long: one that does not return within two
	// seconds is left behind, with its goroutine. One that waits should also wait for
	// Current().Cancel().
	Handler func(u *Uprobe, regs *amd64.Regs)
	// RegistrationCallback, if any, is called when a registration (reg 1) or its
	// opposite (reg 0) that was asked for in a handler has been carried out.
	RegistrationCallback func(u *Uprobe, reg int, typ Type, result error)

	state atomic.Pointer[member] // nil: never registered; changed with mu held
	file  atomic.Pointer[file]   // with Path
	ret   *Uretprobe             // the return probe that this is the U of
}

// Uretprobe returns the return probe whose U this is, nil for others. It is for callbacks.
func (u *Uprobe) Uretprobe() *Uretprobe { return u.ret }

// Uretprobe is a probe on the returns of a function: U.Pid, U.Vaddr (its first
// instruction) and U.RegistrationCallback are the caller's.
type Uretprobe struct {
	U Uprobe
	// Handler is called when the function has returned, before the caller goes on.
	Handler func(ri *UretprobeInstance, regs *amd64.Regs)
}

// UretprobeInstance is one call of a function with a return probe. It is the handler's until
// that returns; then it serves another call.
type UretprobeInstance struct {
	RetAddr uint64     // where it returns to
	RP      *Uretprobe // the probe
}
