package kprobes

import "sonde/arch/amd64"

// KretprobeHandler runs when a probed call enters or returns. An entry handler that
// returns 0 is sure of its return handler, unless the call never returns, or the
// probe is unregistered before. One that returns another value declines the call:
// no return handler is called for it. What a return handler returns is ignored.
//
// Context: trap. Interrupts are as the probed function has them for a return
// handler, and for an entry handler that is reached by a jump; they are off for one
// that is reached by a breakpoint.
// Source: spec/4 §1.3.2, §5.
type KretprobeHandler func(ri *KretprobeInstance, r *amd64.Regs) int

// Kretprobe is a return probe on a function: the function's entry is KP, of
// which only SymbolName or Addr, and FlagDisabled, are to be set.
type Kretprobe struct {
	KP           Kprobe // first: a *Kprobe of kindKretprobe is a *Kretprobe
	Handler      KretprobeHandler
	EntryHandler KretprobeHandler // may be nil
	MaxActive    int              // calls probed at the same time; 0 or less: the number of CPUs
	DataSize     uintptr          // bytes of private data per call

	pool   pool
	sse    bool             // Handler may change X0-X14
	direct KretprobeHandler // Handler, if it may not
}

// KretprobeInstance is one call that has been entered and will return.
type KretprobeInstance struct {
	ret // first: the runtime's sondeRet; with RetAddr

	RP   *Kretprobe
	Task Task   // the goroutine
	Data []byte // DataSize bytes, what the entry handler left there

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
// Source: spec/4 §1.3.1; for KP.NMissed §5.
func (rp *Kretprobe) NMissed() uint64 { return rp.Ledger().NoInst }

// Hits returns how often the return handler has run.
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
func RegsReturnValue(r *amd64.Regs) uint64 { return r.AX }
