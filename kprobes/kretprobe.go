package kprobes

import (
	"slices"
	"syscall"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/kernel/refusal"
	"sonde/kprobes/detour"
	"sonde/kprobes/machine"
	"sonde/probe/ledger"
)

// KretprobeHandler is called when a probed call enters or returns. If an entry handler
// returns 0, the return handler will be called for this call, unless the call is left
// or the probe is unregistered first. If it returns another value, no return handler is
// called for this call. The result of a return handler is ignored.
//
// Context: trap. A return handler, and an entry handler reached by a jump, run with
// interrupts as the probed function has them; an entry handler reached by a breakpoint runs
// with interrupts off.
// Source: kprobes.txt §1.3.2, §5.
type KretprobeHandler func(ri *KretprobeInstance, r *amd64.Regs) int

// Kretprobe is a return probe on a function. KP is the probe on the function's entry; set
// only its SymbolName or Addr, and FlagDisabled.
type Kretprobe struct {
	KP           Kprobe           // first: a *Kprobe of kindKretprobe is a *Kretprobe
	Handler      KretprobeHandler // called when a call returns; nil: returns are counted
	EntryHandler KretprobeHandler // called when it is entered; may be nil
	MaxActive    int              // most calls probed at the same time; 0 or less: the number of CPUs
	DataSize     uintptr          // bytes of private data per call

	pool    pool
	careful bool             // Handler may change X0-X14, IP or SP
	direct  KretprobeHandler // Handler, if it may not
}

// KretprobeInstance is one call that has been entered and has not returned. Its field
// RetAddr, a uintptr, is its return address.
type KretprobeInstance struct {
	ret // first: the runtime's sondeRet; with RetAddr

	RP   *Kretprobe // the probe
	Task Task       // the goroutine
	Data []byte     // DataSize bytes, for the entry handler to fill and the return handler to read

	busy     bool     // not in the pool
	index1   uint64   // in the pool, counted from 1
	nextFree uint64   // index1 of the next in the pool, 0 at its end
	_        [40]byte // up to two cache lines, because another CPU uses the next instance
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

// Ledger returns the probe's counts.
//
// Context: any.
func (rp *Kretprobe) Ledger() Ledger {
	return rp.KP.ledger.LedgerWith(rp.pool.inUse)
}

// RegsReturnValue returns what the function returns, from the register that Go
// and C return the first result in.
//
// Context: a return handler.
func RegsReturnValue(r *amd64.Regs) uint64 { return r.AX }

// lingering keeps return probes that were unregistered with calls in flight:
// those calls still return through their instances. guarded by mu
var lingering []*Kretprobe

// detached keeps rp if calls of it have not returned, and forgets the probes whose calls have all
// returned.
func (rp *Kretprobe) detached() {
	lingering = slices.DeleteFunc(lingering, func(old *Kretprobe) bool { return old == rp || old.pool.inUse() == 0 })
	if rp.pool.inUse() > 0 {
		lingering = append(lingering, rp)
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
		return refusal.New(syscall.ERANGE, "MaxActive is %d, more than %d", n, maxMaxActive)
	case rp.DataSize > maxDataSize:
		return refusal.New(syscall.ERANGE, "DataSize is %d, more than %d", rp.DataSize, maxDataSize)
	case flying != 0:
		return refusal.New(syscall.EBUSY, "%d calls from before have not returned", flying)
	case uint64(n)*each > machine.This.Memory/4:
		return refusal.New(syscall.ENOMEM, "%d instances of %d bytes need %d MiB, more than a quarter of memory",
			n, each, uint64(n)*each>>20)
	}
	if rp.pool.instances != nil {
		machine.This.Outside().Complete() // a CPU that frees an instance may not have put it on a list yet
	}
	rp.pool.init(rp, n, machine.This.CPUs, rp.DataSize)
	return nil
}

func (rp *Kretprobe) manner() ledger.Flags {
	rp.MaxActive = len(rp.pool.instances)
	rp.careful = machine.This.Careful(rp.KP.called(roleReturn))
	rp.direct = nil
	if !rp.careful && !detour.Plain.Get() {
		rp.direct = rp.Handler
	}
	if machine.This.Careful(rp.KP.called(roleEntry)) {
		return flagCareful | flagSpecial
	}
	return flagNotes
}

func (rp *Kretprobe) handlers() []function {
	return []function{{"entry", rp.KP.called(roleEntry)}, {"return", rp.KP.called(roleReturn)}}
}

func (rp *Kretprobe) account() Ledger { return rp.Ledger() }
