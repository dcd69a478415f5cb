package uprobes

import (
	"sync/atomic"
	"syscall"

	"sonde/arch/amd64"
	"sonde/kernel/refusal"
	"sonde/probe/attach"
	"sonde/uprobes/images"
)

// Type says which kind of probe a callback is for.
type Type int

// The kinds.
const (
	UPTY_UPROBE Type = iota
	UPTY_URETPROBE
)

// Uprobe is a probe on an instruction of a process; with Path, on one of a file, in all
// processes that map it now or later. The caller sets the exported fields, and must not
// change them while it is registered.
type Uprobe struct {
	Pid   int    // the process; with Path, 0 means all
	Vaddr uint64 // address of the instruction, if Path is empty
	// Path is the file, if any; the instruction is at Offset from the file's beginning or,
	// with Symbol, from the function's.
	Path   string
	Symbol string
	Offset uint64
	Comm   string // with Path: only in processes with this name
	// Disabled says that it begins disabled; afterwards use EnableUprobe and DisableUprobe.
	Disabled bool
	// Handler is called before the instruction is executed, in the thread that hit it, with
	// its registers, which it may change. It may block. A process that is killed waits for
	// its handlers, but only for two seconds; then it abandons the handler with its
	// goroutine. A handler that waits should also wait for Current().Cancel().
	Handler func(u *Uprobe, regs *amd64.Regs)
	// TrapSafe says that the handler, or a return probe's, keeps the rules of trap context
	// (kprobes.txt: it does not block, allocate or lock). Then it is called where the breakpoint
	// arrives, which takes a third of the time, unless another probe at that place may block, or
	// something needs the thread's goroutine. It may use Current, but nothing that blocks. One that
	// breaks the rules is abandoned, and its probe disabled, as with a kprobe.
	TrapSafe bool
	// Place, if not nil, has the link whose handler Handler calls; that handler is then checked and
	// blamed (package uprobes/link). Registering sets its Convention.
	Place *attach.Place
	// RegistrationCallback, if not nil, is called when a registration (reg 1) or
	// unregistration (reg 0) that was requested in a handler has been carried out.
	RegistrationCallback func(u *Uprobe, reg int, typ Type, result error)

	state atomic.Pointer[member] // nil: never registered; changed with mu held
	file  atomic.Pointer[file]   // with Path
	ret   *Uretprobe             // the return probe whose U this is
}

// conventionOf tells the link where the function at an address of its file finds its arguments.
func (u *Uprobe) conventionOf(im *images.Image, addr uint64) {
	if im != nil && u.Place != nil {
		u.Place.Convention = im.Convention(addr)
	}
}

// Uretprobe returns the return probe whose U this is, or nil. It is for callbacks.
func (u *Uprobe) Uretprobe() *Uretprobe { return u.ret }

// Uretprobe is a probe on the returns of a function. The caller sets U.Pid, U.Vaddr (the
// first instruction) and U.RegistrationCallback.
type Uretprobe struct {
	U Uprobe
	// Handler is called when the function has returned, before the caller continues.
	Handler func(ri *UretprobeInstance, regs *amd64.Regs)
	// EntryHandler, if not nil, is called when the function is entered. If it does not return 0,
	// Handler is not called for this call. What it does to IP has no effect.
	EntryHandler func(ri *UretprobeInstance, regs *amd64.Regs) int
	// MaxActive is how many calls may be in progress at the same time, in all processes; those
	// beyond are missed. 0: mostCalls, or with data for each as many as fit into 16 MiB.
	MaxActive int
	DataWords int // words of memory for each call, 0 when it is entered
}

// UretprobeInstance is one call of a function with a return probe. A handler may use it
// only until it returns.
type UretprobeInstance struct {
	RetAddr uint64     // the return address
	RP      *Uretprobe // the probe
	Data    []uint64   // RP.DataWords of them: the entry handler fills them in, the handler reads them
}

// keptWords is the most data of a call that its thread keeps for the next one, so that none need be
// allocated in trap context.
const keptWords = 32

// What a return probe may ask for: calls at the same time, bytes of data for all of them.
const (
	mostActive = 1 << 20
	mostData   = 16 << 20
)

// limit returns how many calls may be in progress at the same time; 0: no less than all programs together.
//
// Errors: ERANGE, ENOMEM: see RegisterUretprobe.
func (rp *Uretprobe) limit() (most int64, err error) {
	n, words := rp.MaxActive, rp.DataWords
	switch {
	case n < 0 || n > mostActive:
		return 0, refusal.New(syscall.ERANGE, "MaxActive is %d; give 0 to %d", n, mostActive)
	case words < 0 || words > attach.MostWords:
		return 0, refusal.New(syscall.ERANGE, "%d words of data for each call; give 0 to %d", words, attach.MostWords)
	case words == 0:
		return int64(n), nil
	case n == 0:
		return int64(mostData / 8 / words), nil
	case n*words*8 > mostData:
		return 0, refusal.New(syscall.ENOMEM, "data of %d words for %d calls need %d MiB, more than %d", words, n, n*words*8>>20, mostData>>20)
	}
	return int64(n), nil
}

// more reports whether calls have an entry handler, data or a limit.
func (rp *Uretprobe) more() bool {
	return rp.EntryHandler != nil || rp.DataWords != 0 || rp.MaxActive != 0
}

var errGoAsm = refusal.New(syscall.EOPNOTSUPP, "this function of a Go program is written in assembly, which may use the register that says whose call it is (R14): its calls can have no entry handler, data or limit")
