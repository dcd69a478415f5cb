package kprobes

import (
	"fmt"
	"strings"
	"syscall"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/kallsyms"
	"sonde/kernel/cpu/percpu"
	"sonde/kernel/refusal"
	"sonde/kprobes/machine"
	"sonde/probe/attach"
	"sonde/probe/ledger"
)

// Flags of a probe.
const (
	// FlagDisabled is KPROBE_FLAG_DISABLED: the probe is registered, but its handlers are
	// not called. Set it before registering to begin disabled; afterwards use EnableKprobe
	// and DisableKprobe.
	FlagDisabled ledger.Flags = 1 << iota
	flagRegistered
	flagGone    // its handler broke the rules: disabled for good
	flagCareful // a handler may change X0-X14, IP or SP; of a return probe, the entry handler
	// What a hit does for the probe, see onBreakpoint. With none of these two it calls the
	// pre-handler; with flagNotes, a return probe, it notes the call; flagSpecial is
	// everything else.
	flagNotes
	flagSpecial
	flagTold // it was said that what a handler returns has no good effect

	flagOff = FlagDisabled | flagGone
	// flagsReturn decide whether a call that has not returned yet will call the return
	// handler: it will if flagRegistered is the only one of these that is set.
	flagsReturn = flagGone | flagRegistered
	// flagsOwn are the flags that users must not set.
	flagsOwn = flagRegistered | flagGone | flagCareful | flagNotes | flagSpecial | flagTold
)

// The handlers. The package's documentation says what they may do.
type (
	// PreHandler runs before the probed instruction; r.IP is after the INT3, that is k.Addr+1, as on
	// Linux. It normally returns 0. Any other value means that it has changed r.IP: the instruction
	// is not executed, no post-handler is called, and execution continues at r.IP. The value is
	// ignored in a hit by a jump: a probe whose handler changes r.IP needs a post-handler, for which
	// an empty one will do (kprobes.txt §1.4, note).
	//
	// Context: trap. Interrupts are off if a trap calls it. If a jump calls it ([OPTIMIZED]
	// in the list), they are as the probed code has them; a handler that needs them off
	// must turn them off itself.
	// Source: kprobes.txt §5.
	PreHandler func(k *Kprobe, r *amd64.Regs) int
	// PostHandler runs after the probed instruction; flags is always 0.
	//
	// Context: trap, with interrupts off.
	PostHandler func(k *Kprobe, r *amd64.Regs, flags uint64)
	// FaultHandler runs when exception trapnr occurs in one of the handlers or in the
	// probed instruction, however that is executed. If it returns non-zero, the exception
	// is handled: execution continues with r as it is then. At k.Addr that is another hit.
	//
	// Context: trap, with interrupts off.
	FaultHandler func(k *Kprobe, r *amd64.Regs, trapnr int) int
)

// Kprobe is a probe on one instruction. Set either SymbolName and Offset or Addr, and the
// handlers; leave the rest alone while the probe is registered.
type Kprobe struct {
	SymbolName string       // the function, as in kallsyms; the path may be cut at any slash
	Offset     uintptr      // bytes from the symbol
	Addr       uintptr      // filled in from SymbolName
	Flags      ledger.Flags // FlagDisabled, or 0

	PreHandler   PreHandler   // nil: hits are counted
	PostHandler  PostHandler  // may be nil
	FaultHandler FaultHandler // may be nil

	// Place, if not nil, has the link whose handlers the ones above call; these are then checked and
	// blamed (package kprobes/link).
	Place *attach.Place

	kind   kind
	ledger ledger.Accounts
	fused  *percpu.Tally // hits that ran the handler's code in the detour; nil: there can be none. See tally
	// guarded by mu:
	point *point
	owner string // the module that registered it, "" for the kernel
}

// Task identifies a goroutine by its id, 0 for none.
type Task uint64

// A Context says which goroutine and CPU reached a probe: see Current.
type Context struct {
	Goroutine Task // 0: none, the hit is in the scheduler or in an interrupt
	CPU       int  // counted from 0
}

// resolve returns k's address and the function that contains it.
func (k *Kprobe) resolve() (addr uintptr, fn kallsyms.Symbol, err error) {
	switch {
	case k.SymbolName != "" && k.Addr != 0:
		return 0, fn, refusal.New(syscall.EINVAL, "both SymbolName and Addr are given")
	case k.SymbolName != "":
		if fn, err = kallsyms.Resolve(k.SymbolName); err != nil {
			return 0, fn, err
		}
		if !fn.IsText() {
			return 0, fn, refusal.New(syscall.EINVAL, "%s is data", fn.Name)
		}
		if uint64(k.Offset) >= fn.Size {
			return 0, fn, refusal.New(syscall.EINVAL, "offset %#x is beyond the end of %s, which has %#x bytes", k.Offset, fn.Name, fn.Size)
		}
		return uintptr(fn.Addr) + k.Offset, fn, nil
	case k.Addr != 0:
		var ok bool
		if fn, ok = kallsyms.Kernel().At(uint64(k.Addr)); !ok || !fn.IsText() || machine.This.Code(k.Addr, 1) == nil {
			return 0, fn, refusal.New(syscall.EINVAL, "not an address of kernel text")
		}
		return k.Addr, fn, nil
	}
	return 0, fn, refusal.New(syscall.EINVAL, "neither SymbolName nor Addr is given")
}

// Resolve returns the address of a place: an offset in a symbol, or an address if symbol is empty.
//
// Errors: ENOENT there is no such symbol; EINVAL it is no code, or the offset is beyond its end.
func Resolve(symbol string, offset, addr uintptr) (uintptr, error) {
	addr, _, err := (&Kprobe{SymbolName: symbol, Offset: offset, Addr: addr}).resolve()
	return addr, err
}

// Current returns which goroutine and CPU the hit belongs to. r must be what the handler
// was given. It costs two loads and allocates nothing.
//
// Context: trap: a handler of a kprobe or of a return probe.
func Current(r *amd64.Regs) Context { return current(r) }

// Opcode returns the first byte of k's original instruction, without the breakpoint or jump
// that may have replaced it; 0 if k is not registered.
//
// Source: "Kernel Space Probes Interface", opcode.
func (k *Kprobe) Opcode() byte {
	mu.Lock()
	defer mu.Unlock()
	if k.point == nil {
		return 0
	}
	return k.point.Orig[0]
}

// name is how error messages call k.
func (k *Kprobe) name() string {
	if k.SymbolName == "" {
		return fmt.Sprintf("%#x", k.Addr)
	}
	return fmt.Sprintf("%s+%#x", k.SymbolName, k.Offset)
}

// named puts the place in front of an error that does not name it.
func (k *Kprobe) named(err error) error {
	if k.SymbolName != "" && strings.Contains(err.Error(), k.SymbolName) {
		return err
	}
	return fmt.Errorf("%s: %w", k.name(), err)
}

// kind is what a Kprobe is part of; its letter is in the list file.
type kind uint8

const (
	kindKprobe kind = iota
	kindKretprobe
	kindJprobe
	kindWatch // a watchpoint, whose handlers are package kwatch's: see WatchMoved
	kindCamera
)

func (k kind) String() string { return [...]string{"k", "r", "j", "w", "c"}[k] }
func (k kind) noun() string {
	return [...]string{"kprobe", "return probe", "jprobe", "watchpoint", "camera"}[k]
}

// A whole is what a Kprobe is part of. It has what differs by kind in registering and
// describing; hits go by the flags.
type whole interface {
	// prepare makes what a hit needs. Called with mu held.
	// Errors: those of RegisterKretprobe and RegisterJprobe.
	prepare() error
	// manner returns the flags that tell hits how to call the handlers. It is called when
	// nothing can fail any more.
	manner() ledger.Flags
	// detached is called after unregistering, when no CPU is in its handlers.
	detached()
	// handlers returns all functions that hits may call, by name; account returns what
	// became of the hits.
	handlers() []function
	account() Ledger
}

// A function is a handler, which may be nil, with its role.
type function struct {
	role string
	f    any
}

func (k *Kprobe) whole() whole {
	switch k.kind {
	case kindKretprobe:
		return asKretprobe(k)
	case kindJprobe:
		return asJprobe(k)
	case kindCamera:
		return asCamera(k)
	}
	return k
}

func (k *Kprobe) prepare() error { return nil }
func (k *Kprobe) detached()      {}

func (k *Kprobe) manner() ledger.Flags {
	switch {
	case machine.This.Careful(k.called(rolePre)) || machine.This.Careful(k.PostHandler):
		return flagCareful | flagSpecial
	case k.PreHandler == nil:
		return flagSpecial
	}
	return 0
}

func (k *Kprobe) handlers() []function {
	return []function{{"pre", k.called(rolePre)}, {"post", k.PostHandler}, {"fault", k.FaultHandler}}
}

// called returns the user's handler of a role, a nil func if there is none. If k belongs to a link, it
// is the link's.
//
// Context: any.
func (k *Kprobe) called(r role) any {
	switch {
	case k.Place != nil && r == roleEntry:
		return k.Place.Link.Options.Entry
	case k.Place != nil:
		return k.Place.Link.Handler
	case r == rolePre:
		return k.PreHandler
	case r == rolePost:
		return k.PostHandler
	case r == roleFault:
		return k.FaultHandler
	case r == roleEntry:
		return asKretprobe(k).EntryHandler
	}
	return asKretprobe(k).Handler
}

func (k *Kprobe) account() Ledger { return k.Ledger() }

// role is what a handler is to its probe.
type role uint8

const (
	rolePre role = iota
	rolePost
	roleFault
	roleEntry
	roleReturn
	roleWatch
)

func (r role) String() string {
	return [...]string{"pre-handler", "post-handler", "fault-handler", "entry handler", "return handler", "handler"}[r]
}

// asKretprobe returns the return probe that k, of that kind, is the entry of.
// Safe because: KP is its first field.
func asKretprobe(k *Kprobe) *Kretprobe { return (*Kretprobe)(unsafe.Pointer(k)) }

// asJprobe returns the jprobe that k, of that kind, is the entry of.
// Safe because: KP is its first field.
func asJprobe(k *Kprobe) *Jprobe { return (*Jprobe)(unsafe.Pointer(k)) }

func (k *Kprobe) entry() *Kprobe { return k }

// entry is rp's Kprobe, nil for nil. Safe because: as asKretprobe.
func (rp *Kretprobe) entry() *Kprobe { return (*Kprobe)(unsafe.Pointer(rp)) }

// entry is j's Kprobe, nil for nil. Safe because: as asJprobe.
func (j *Jprobe) entry() *Kprobe { return (*Kprobe)(unsafe.Pointer(j)) }

// wantsPost reports whether k keeps its instruction from being boosted.
func (k *Kprobe) wantsPost() bool { return k.PostHandler != nil && k.kind != kindCamera }

// A Ledger counts what became of each hit of a probe.
type Ledger = ledger.Ledger

// Ledger returns the probe's counts.
//
// Context: any.
func (k *Kprobe) Ledger() Ledger {
	l, n := k.ledger.Ledger(), k.tallied()
	l.Entered += n
	l.Handled += n
	return l
}

// NMissed returns how many hits did not call the handler because they happened inside a
// handler.
//
// Context: any.
func (k *Kprobe) NMissed() uint64 { return k.Ledger().Recursion }

// Hits returns how many times the probe's handler has completed.
//
// Context: any.
func (k *Kprobe) Hits() uint64 { return k.Ledger().Handled }

// calls and notes report whether a hit only has to call k's pre-handler, or only has to
// note the call.
func (k *Kprobe) calls() bool { return !k.Flags.Has(flagOff | flagSpecial | flagNotes) }

func (k *Kprobe) notes() bool {
	return k.Flags.Has(flagNotes) && !k.Flags.Has(flagOff|flagSpecial) && asKretprobe(k).EntryHandler == nil
}

// disableForGood stops hits from calling k's handlers, and reports whether they did until
// now. The hits must look at k's flags for this, so its point has no short way.
//
// Context: any.
func (k *Kprobe) disableForGood() bool {
	did := k.Flags.Set(flagGone) // first: see shorten
	if pt := points.Find(k.Addr); pt != nil {
		pt.lengthen()
	}
	return did
}
