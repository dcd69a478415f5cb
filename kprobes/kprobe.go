package kprobes

import (
	"sync/atomic"

	"sonde/arch/amd64"
)

// Flags of a probe.
const (
	// FlagDisabled is KPROBE_FLAG_DISABLED: registered, but its handlers are
	// not called. Set before registering to begin so; change it afterwards
	// with EnableKprobe and DisableKprobe.
	FlagDisabled uint32 = 1 << iota
	flagRegistered
	flagGone // its handler broke the rules: disabled for good
	flagUsed // has been registered before
)

// flagsReturn decide whether a call in flight returns to its handler: it does if of
// these only flagRegistered is set.
const flagsReturn = flagGone | flagRegistered

// Handlers; all in trap context with interrupts off.
type (
	// PreHandler runs before the probed instruction; r.IP is behind the INT3,
	// one more than k.Addr, as on Linux. It returns 0. Any other value means
	// that it has changed r.IP: the instruction is not executed, no
	// post-handler is called, and the code goes on at r.IP.
	PreHandler func(k *Kprobe, r *amd64.Regs) int
	// PostHandler runs after the probed instruction; flags is always 0.
	PostHandler func(k *Kprobe, r *amd64.Regs, flags uint64)
	// FaultHandler runs when exception trapnr occurs in one of the handlers or
	// in the single-stepped instruction. Non-zero says that it has been dealt
	// with: the code goes on with r as it is then.
	FaultHandler func(k *Kprobe, r *amd64.Regs, trapnr int) int
)

// Kprobe is a probe on one instruction. Set either SymbolName and Offset or
// Addr, and the handlers wanted; leave the rest alone while it is registered.
type Kprobe struct {
	SymbolName string
	Offset     uintptr
	Addr       uintptr // filled in from SymbolName
	Flags      uint32

	PreHandler   PreHandler
	PostHandler  PostHandler
	FaultHandler FaultHandler

	kind   kind
	sse    bool // a handler may change X0-X14
	ledger ledger
	// guarded by mu:
	site  *site
	owner string // the module that registered it, "" for the kernel
}

// kind is what a Kprobe is part of; the letters of the list file.
type kind uint8

const (
	kindKprobe kind = iota
	kindKretprobe
	kindJprobe
)

func (k kind) String() string { return [...]string{"k", "r", "j"}[k] }

func (k *Kprobe) has(f uint32) bool { return atomic.LoadUint32(&k.Flags)&f != 0 }
func (k *Kprobe) set(f uint32)      { atomic.OrUint32(&k.Flags, f) }
func (k *Kprobe) clear(f uint32)    { atomic.AndUint32(&k.Flags, ^f) }

// markGone disables k for good, and reports whether this was the call that did.
func (k *Kprobe) markGone() bool { return atomic.OrUint32(&k.Flags, flagGone)&flagGone == 0 }

// wantsPost reports whether k keeps its instruction from being boosted.
func (k *Kprobe) wantsPost() bool { return k.PostHandler != nil }

// NMissed returns how often the probe was hit but its handler not called,
// because it was hit inside a handler.
//
// Context: any.
func (k *Kprobe) NMissed() uint64 { return k.Ledger().Recursion }

// Hits returns how often the probe's handler has run to its end.
//
// Context: any.
func (k *Kprobe) Hits() uint64 { return k.Ledger().Handled }
