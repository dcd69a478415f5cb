package kprobes

import (
	"slices"
	"syscall"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/kernel/probe"
	"sonde/kprobes/detour"
	"sonde/kprobes/machine"
)

// KretprobeHandler runs when a probed call enters or returns. An entry handler that
// returns 0 is sure of its return handler, unless the call never returns, or the
// probe is unregistered before. One that returns another value declines the call:
// no return handler is called for it. What a return handler returns is ignored.
//
// Context: trap. Interrupts are as the probed function has them for a return
// handler, and for an entry handler that is reached by a jump; they are off for one
// that is reached by a breakpoint.
// Source: kprobes.txt §1.3.2, §5.
type KretprobeHandler func(ri *KretprobeInstance, r *amd64.Regs) int

// Kretprobe is a return probe on a function: the function's entry is KP, of
// which only SymbolName or Addr, and FlagDisabled, are to be set.
type Kretprobe struct {
	KP           Kprobe           // first: a *Kprobe of kindKretprobe is a *Kretprobe
	Handler      KretprobeHandler // called when a call returns; nil: returns are counted
	EntryHandler KretprobeHandler // called when it is entered; may be nil
	MaxActive    int              // calls probed at the same time; 0 or less: the number of CPUs
	DataSize     uintptr          // bytes of private data per call

	pool   pool
	sse    bool             // Handler may change X0-X14
	direct KretprobeHandler // Handler, if it may not
}

// KretprobeInstance is one call that has been entered and will return. Its field
// RetAddr, a uintptr, is the address that it will return to.
type KretprobeInstance struct {
	ret // first: the runtime's sondeRet; with RetAddr

	RP   *Kretprobe // the probe
	Task Task       // the goroutine
	Data []byte     // DataSize bytes, what the entry handler left there

	busy     bool     // not in the pool
	index1   uint64   // in the pool, counted from 1
	nextFree uint64   // index1 of the next in the pool, 0 at its end
	_        [40]byte // to two cache lines: another CPU uses the next instance
}

// ret is the runtime's sondeRet: see the overlay's sonde_ret.go.
type ret struct {
	next    uintptr // *ret
	off     uintptr // stack top less the address of the return address
	RetAddr uintptr // the real return address
}

// NMissed returns how often the function was entered with all MaxActive instances
// in use. Entries inside another handler are counted by rp.KP.NMissed, as for any
// probe.
//
// Context: any.
// Source: kprobes.txt §1.3.1; for KP.NMissed §5.
func (rp *Kretprobe) NMissed() uint64 { return rp.Ledger().NoInst }

// Hits returns how often the return handler has run.
//
// Context: any.
func (rp *Kretprobe) Hits() uint64 { return rp.Ledger().Handled }

// Ledger returns the probe's account.
//
// Context: any.
func (rp *Kretprobe) Ledger() Ledger {
	l := rp.KP.Ledger()
	l.InFlight = uint64(rp.pool.inUse())
	return l
}

// RegsReturnValue returns what the function returns, from the register that Go
// and C return the first result in.
//
// Context: a return handler.
func RegsReturnValue(r *amd64.Regs) uint64 { return r.AX }

// graveyard keeps return probes that were unregistered with calls in flight:
// those calls still return through their instances. guarded by mu
var graveyard []*Kretprobe

// left keeps rp if calls are in flight. Those of others that are not any more are
// forgotten.
func (rp *Kretprobe) left() {
	graveyard = slices.DeleteFunc(graveyard, func(old *Kretprobe) bool { return old == rp || old.pool.inUse() == 0 })
	if rp.pool.inUse() > 0 {
		graveyard = append(graveyard, rp)
	}
}

// What a return probe may ask for: calls at the same time, far beyond the
// goroutines of this kernel, and bytes for each.
const (
	maxMaxActive = 1 << 20
	maxDataSize  = 1 << 16
)

// prepare makes the instances.
//
// Errors: ERANGE, ENOMEM, EBUSY: see RegisterKretprobe.
func (rp *Kretprobe) prepare() error {
	n := rp.MaxActive
	if n <= 0 {
		n = machine.This.CPUs // not preemptible: kprobes.txt §1.3.1
	}
	each := uint64(unsafe.Sizeof(KretprobeInstance{}) + rp.DataSize)
	switch flying := rp.pool.inUse(); {
	case n > maxMaxActive:
		return probe.Refuse(syscall.ERANGE, "MaxActive is %d, more than %d", n, maxMaxActive)
	case rp.DataSize > maxDataSize:
		return probe.Refuse(syscall.ERANGE, "DataSize is %d, more than %d", rp.DataSize, maxDataSize)
	case flying != 0:
		return probe.Refuse(syscall.EBUSY, "%d calls from before have not returned", flying)
	case uint64(n)*each > machine.This.Memory/4:
		return probe.Refuse(syscall.ENOMEM, "%d instances of %d bytes need %d MiB, more than a quarter of memory",
			n, each, uint64(n)*each>>20)
	}
	if rp.pool.instances != nil {
		machine.This.Quiesce() // who gives an instance back may not have put it on a list yet
	}
	rp.pool.init(rp, n, machine.This.CPUs, rp.DataSize)
	return nil
}

func (rp *Kretprobe) manner() probe.Flags {
	rp.MaxActive = len(rp.pool.instances)
	rp.sse = machine.This.WritesSSE(rp.Handler)
	rp.direct = nil
	if !rp.sse && !detour.Plain.Get() {
		rp.direct = rp.Handler
	}
	if machine.This.WritesSSE(rp.EntryHandler) {
		return flagSSE | flagSpecial
	}
	return flagNotes
}

func (rp *Kretprobe) handlers() []handler {
	return []handler{{"entry", rp.EntryHandler}, {"return", rp.Handler}}
}

func (rp *Kretprobe) account() Ledger { return rp.Ledger() }
