package kprobes

import (
	"sync/atomic"

	"sonde/arch/amd64/trap"
)

// A Ledger accounts for every hit of a probe. What has been entered has been
// handled or is missed for one of the reasons: Unexplained is 0, unless a
// handler is running just now.
type Ledger struct {
	Entered   uint64 // times the probed instruction was reached with the probe armed
	Handled   uint64 // its handler ran to its end; of a return probe, the return handler
	Declined  uint64 // return probe: its entry handler did not want this call
	Recursion uint64 // reached inside a handler
	NoInst    uint64 // return probe: all MaxActive instances in use
	Disarmed  uint64 // disabled or unregistered meanwhile; of a return probe, unregistered before the call returned
	Abandoned uint64 // the handler broke the rules; of a return probe, also calls that never return
	InFlight  uint64 // return probe: calls that have not returned yet
}

// Missed is the sum of the reasons.
func (l Ledger) Missed() uint64 { return l.Recursion + l.NoInst + l.Disarmed + l.Abandoned }

// Unexplained is how many hits the ledger has lost.
func (l Ledger) Unexplained() int64 {
	return int64(l.Entered - l.Handled - l.Declined - l.Missed() - l.InFlight)
}

// event is a line of the ledger that is counted.
type event uint8

const (
	entered event = iota
	missed        // inside a handler: entered, and recursion
	handled
	declined
	recursion
	noInst
	disarmed
	abandoned
	numEvents
)

// ledger is the counters.
type ledger [trap.MaxCPUs]account

// account is a CPU's part of a ledger. Wherever that begins, no cache line that is
// written here is used by another CPU, and none that holds what lies in front of
// the ledger, which all CPUs read.
type account struct {
	_ [16 - numEvents]uint64
	n [numEvents]uint64 // written by this CPU, during a hit that is not nested
}

func (l *ledger) count(cpu int, e event) { l[cpu&(trap.MaxCPUs-1)].n[e]++ }

func (l *ledger) uncount(cpu int, e event) { l[cpu&(trap.MaxCPUs-1)].n[e]-- }

// countNested is count for what an interrupt, or a handler that it interrupts,
// may count at the same time.
func (l *ledger) countNested(cpu int, e event) {
	atomic.AddUint64(&l[cpu&(trap.MaxCPUs-1)].n[e], 1)
}

func (l *ledger) sum(e event) (n uint64) {
	for i := range l {
		n += atomic.LoadUint64(&l[i].n[e])
	}
	return n
}

// Ledger returns the probe's account.
//
// Context: any.
func (k *Kprobe) Ledger() Ledger {
	l := Ledger{
		Handled: k.ledger.sum(handled), Declined: k.ledger.sum(declined),
		Recursion: k.ledger.sum(recursion), NoInst: k.ledger.sum(noInst),
		Disarmed: k.ledger.sum(disarmed), Abandoned: k.ledger.sum(abandoned),
	}
	nested := k.ledger.sum(missed)
	l.Entered = k.ledger.sum(entered) + nested
	l.Recursion += nested
	return l
}
