package kprobes

import (
	"fmt"
	"syscall"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/kallsyms"
	"sonde/kernel/probe"
	"sonde/kprobes/machine"
)

// Flags of a probe.
const (
	// FlagDisabled is KPROBE_FLAG_DISABLED: registered, but its handlers are
	// not called. Set before registering to begin so; change it afterwards
	// with EnableKprobe and DisableKprobe.
	FlagDisabled probe.Flags = 1 << iota
	flagRegistered
	flagGone // its handler broke the rules: disabled for good
	flagSSE  // a handler may change X0-X14; of a return probe, the entry handler
	// What hits do for it, see onBreakpoint: none of the two, the pre-handler is
	// called as it is; flagNotes, a return probe notes the call; flagSpecial, all else.
	flagNotes
	flagSpecial

	flagOff = FlagDisabled | flagGone
	// flagsReturn decide whether a call in flight returns to its handler: it does if
	// of these only flagRegistered is set.
	flagsReturn = flagGone | flagRegistered
	// flagsOwn are not the user's.
	flagsOwn = flagRegistered | flagGone | flagSSE | flagNotes | flagSpecial
)

// The handlers. What they may do is in the package's documentation.
type (
	// PreHandler runs before the probed instruction; r.IP is behind the INT3,
	// one more than k.Addr, as on Linux. It returns 0. Any other value means
	// that it has changed r.IP: the instruction is not executed, no
	// post-handler is called, and the code goes on at r.IP. Of a probe that is
	// hit by a jump the value is ignored: give one that changes r.IP a
	// post-handler, an empty one will do (kprobes.txt §1.4, note).
	//
	// Context: trap. Interrupts are off when a trap calls it; when a jump does
	// ([OPTIMIZED] in the list), they are as the probed code has them: a handler
	// that minds must turn them off itself.
	// Source: kprobes.txt §5.
	PreHandler func(k *Kprobe, r *amd64.Regs) int
	// PostHandler runs after the probed instruction; flags is always 0.
	//
	// Context: trap, with interrupts off.
	PostHandler func(k *Kprobe, r *amd64.Regs, flags uint64)
	// FaultHandler runs when exception trapnr occurs in one of the handlers or
	// in the probed instruction, however that is executed. Non-zero says that it has
	// been dealt with: the code goes on with r as it is then. At k.Addr that is
	// another hit.
	//
	// Context: trap, with interrupts off.
	FaultHandler func(k *Kprobe, r *amd64.Regs, trapnr int) int
)

// Kprobe is a probe on one instruction. Set either SymbolName and Offset or
// Addr, and the handlers wanted; leave the rest alone while it is registered.
type Kprobe struct {
	SymbolName string      // the function, as kallsyms has it; a name may be cut at any slash
	Offset     uintptr     // bytes from there
	Addr       uintptr     // filled in from SymbolName
	Flags      probe.Flags // FlagDisabled, or 0

	PreHandler   PreHandler   // nil: hits are counted
	PostHandler  PostHandler  // may be nil
	FaultHandler FaultHandler // may be nil

	kind   kind
	ledger probe.Accounts
	// guarded by mu:
	site  *site
	owner string // the module that registered it, "" for the kernel
}

// Task identifies a goroutine by its id, 0 for none.
type Task uint64

// A Context is who reached a probe, and where: see Current.
type Context struct {
	Goroutine Task // 0: none, it is the scheduler or an interrupt
	CPU       int  // counted from 0
}

// resolve returns where k goes and the function that is in.
func (k *Kprobe) resolve() (addr uintptr, fn kallsyms.Symbol, err error) {
	switch {
	case k.SymbolName != "" && k.Addr != 0:
		return 0, fn, probe.Refuse(syscall.EINVAL, "both SymbolName and Addr are given")
	case k.SymbolName != "":
		if fn, err = kallsyms.Resolve(k.SymbolName); err != nil {
			return 0, fn, err
		}
		if !fn.IsText() {
			return 0, fn, probe.Refuse(syscall.EINVAL, "%s is data", fn.Name)
		}
		if uint64(k.Offset) >= fn.Size {
			return 0, fn, probe.Refuse(syscall.EINVAL, "%s has %#x bytes", fn.Name, fn.Size)
		}
		return uintptr(fn.Addr) + k.Offset, fn, nil
	case k.Addr != 0:
		var ok bool
		if fn, ok = kallsyms.Kernel().At(uint64(k.Addr)); !ok || !fn.IsText() || machine.This.Code(k.Addr, 1) == nil {
			return 0, fn, probe.Refuse(syscall.EINVAL, "not an address of kernel text")
		}
		return k.Addr, fn, nil
	}
	return 0, fn, probe.Refuse(syscall.EINVAL, "neither SymbolName nor Addr is given")
}

// Current tells whose hit a handler is called for. r is what the handler got. It
// costs two loads, and allocates nothing.
//
// Context: trap: a handler of a kprobe, or of a return probe.
func Current(r *amd64.Regs) Context { return current(r) }

// Opcode returns the first byte of k's instruction, which a breakpoint or a jump may
// have replaced; 0 if k is not registered.
//
// Source: "Kernel Space Probes Interface", opcode.
func (k *Kprobe) Opcode() byte {
	mu.Lock()
	defer mu.Unlock()
	if k.site == nil {
		return 0
	}
	return k.site.Orig[0]
}

// name is how errors call k.
func (k *Kprobe) name() string {
	if k.SymbolName == "" {
		return fmt.Sprintf("%#x", k.Addr)
	}
	return fmt.Sprintf("%s+%#x", k.SymbolName, k.Offset)
}

// kind is what a Kprobe is part of; the letters of the list file.
type kind uint8

const (
	kindKprobe kind = iota
	kindKretprobe
	kindJprobe
)

func (k kind) String() string { return [...]string{"k", "r", "j"}[k] }
func (k kind) noun() string   { return [...]string{"kprobe", "return probe", "jprobe"}[k] }

// A whole is what a Kprobe is part of: what its kind does in its own way when it is
// registered, and described. What a hit does goes by the flags.
type whole interface {
	// prepare makes what is needed before there can be a hit. Called with mu held.
	// Errors: as RegisterKretprobe and RegisterJprobe say.
	prepare() error
	// manner settles how hits call the handlers, as they are now, and returns the
	// flags that say it. Nothing can be refused any more.
	manner() probe.Flags
	// left is called when it is unregistered, and no CPU is in a handler of it.
	left()
	// handlers returns all that hits may call, by what it is called, and account
	// what has become of the hits.
	handlers() []handler
	account() Ledger
}

// A handler is a function, which may be nil, and what it is to its probe.
type handler struct {
	role string
	f    any
}

func (k *Kprobe) whole() whole {
	switch k.kind {
	case kindKretprobe:
		return asKretprobe(k)
	case kindJprobe:
		return asJprobe(k)
	}
	return k
}

func (k *Kprobe) prepare() error { return nil }
func (k *Kprobe) left()          {}

func (k *Kprobe) manner() probe.Flags {
	switch {
	case machine.This.WritesSSE(k.PreHandler) || machine.This.WritesSSE(k.PostHandler):
		return flagSSE | flagSpecial
	case k.PreHandler == nil:
		return flagSpecial
	}
	return 0
}

func (k *Kprobe) handlers() []handler {
	return []handler{{"pre", k.PreHandler}, {"post", k.PostHandler}, {"fault", k.FaultHandler}}
}

func (k *Kprobe) account() Ledger { return k.Ledger() }

// asKretprobe returns the return probe that k, of that kind, is the entry of.
// Safe because: KP is its first field.
func asKretprobe(k *Kprobe) *Kretprobe { return (*Kretprobe)(unsafe.Pointer(k)) }

// asJprobe returns the jprobe that k, of that kind, is the entry of.
// Safe because: KP is its first field.
func asJprobe(k *Kprobe) *Jprobe { return (*Jprobe)(unsafe.Pointer(k)) }

// entry is rp's Kprobe, nil for nil. Safe because: as asKretprobe.
func (rp *Kretprobe) entry() *Kprobe { return (*Kprobe)(unsafe.Pointer(rp)) }

// entry is j's Kprobe, nil for nil. Safe because: as asJprobe.
func (j *Jprobe) entry() *Kprobe { return (*Kprobe)(unsafe.Pointer(j)) }

// wantsPost reports whether k keeps its instruction from being boosted.
func (k *Kprobe) wantsPost() bool { return k.PostHandler != nil }

// A Ledger accounts for every hit of a probe.
type Ledger = probe.Ledger

// Ledger returns the probe's account.
//
// Context: any.
func (k *Kprobe) Ledger() Ledger { return k.ledger.Ledger() }

// NMissed returns how often the probe was hit but its handler not called,
// because it was hit inside a handler.
//
// Context: any.
func (k *Kprobe) NMissed() uint64 { return k.Ledger().Recursion }

// Hits returns how often the probe's handler has run to its end.
//
// Context: any.
func (k *Kprobe) Hits() uint64 { return k.Ledger().Handled }

// calls and notes report whether all that k wants of a hit is its pre-handler called,
// or the call noted.
func (k *Kprobe) calls() bool { return !k.Flags.Has(flagOff | flagSpecial | flagNotes) }

func (k *Kprobe) notes() bool {
	return k.Flags.Has(flagNotes) && !k.Flags.Has(flagOff|flagSpecial) && asKretprobe(k).EntryHandler == nil
}

// disableForGood makes hits call no handler of k's any more, and reports whether they
// did before. They must look at its flags for that, so its site has no short way.
//
// Context: any.
func (k *Kprobe) disableForGood() bool {
	if s := sites.Find(k.Addr); s != nil {
		s.call.Store(0)
		s.note.Store(0)
		s.second.Store(0)
	}
	return k.Flags.Set(flagGone)
}
