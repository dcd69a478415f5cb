package probe

import (
	"sync/atomic"
	"unsafe"
)

// A Ledger counts what became of every hit of a probe. Each hit that was entered has been
// handled or missed for one of the reasons: Unexplained is 0, unless a handler is running.
type Ledger struct {
	Entered   uint64 // times the probed instruction was reached with the probe armed
	Handled   uint64 // its handler has completed; of a return probe, the return handler
	Declined  uint64 // return probe: its entry handler declined this call
	Recursion uint64 // reached inside a handler
	NoInst    uint64 // return probe: all MaxActive instances in use
	Disarmed  uint64 // disabled or unregistered meanwhile; of a return probe, unregistered before the call returned
	Abandoned uint64 // the handler broke the rules; of a return probe, also calls that were left
	InFlight  uint64 // return probe: calls that have not returned yet
}

// Missed is the sum of the reasons.
func (l Ledger) Missed() uint64 { return l.Recursion + l.NoInst + l.Disarmed + l.Abandoned }

// Unexplained is how many hits are missing from the ledger.
func (l Ledger) Unexplained() int64 {
	return int64(l.Entered - l.Handled - l.Declined - l.Missed() - l.InFlight)
}

// Plus returns the sum of both.
func (l Ledger) Plus(o Ledger) Ledger {
	return Ledger{
		l.Entered + o.Entered, l.Handled + o.Handled, l.Declined + o.Declined, l.Recursion + o.Recursion,
		l.NoInst + o.NoInst, l.Disarmed + o.Disarmed, l.Abandoned + o.Abandoned, l.InFlight + o.InFlight,
	}
}

// An Event is a line of the ledger that is counted.
type Event uint8

// The events.
const (
	Entered Event = iota
	Missed        // inside a handler: entered, and recursion
	Handled
	Declined
	Recursion
	NoInst
	Disarmed
	Abandoned
	NumEvents
)

// A Counter counts the hits of one probe in threads of programs, which change CPUs.
//
// Context: any, for all of its methods.
type Counter struct {
	n      [NumEvents]atomic.Uint64
	Flying atomic.Int64 // return probe: calls that have not returned
}

// Count counts e.
func (c *Counter) Count(e Event) { c.n[e].Add(1) }

// Uncount takes a Count back.
func (c *Counter) Uncount(e Event) { c.n[e].Add(^uint64(0)) }

// Ledger returns the counts. What is entered is read last, as in Accounts.
func (c *Counter) Ledger() Ledger {
	n := func(e Event) uint64 { return c.n[e].Load() }
	return Ledger{
		Handled: n(Handled), Declined: n(Declined), NoInst: n(NoInst), Disarmed: n(Disarmed), Abandoned: n(Abandoned),
		InFlight: uint64(max(c.Flying.Load(), 0)), Entered: n(Entered),
	}
}

// account is a CPU's part of a ledger. Wherever it begins, its counters share no cache line
// with another CPU's.
type account struct {
	_ [16 - NumEvents]uint64
	n [NumEvents]uint64 // written by this CPU, during a hit that is not nested
}

// For code that counts without calling Accounts: a CPU's counters are at
// Accounts.base + cpu<<AccountShift + AccountCounters, 8 bytes for each Event.
const (
	AccountShift    = 7
	AccountCounters = unsafe.Offsetof(account{}.n)
	AccountBytes    = unsafe.Sizeof(account{})
)

// This does not compile unless the shift is that of the size.
var _ [0]struct{} = [AccountBytes - 1<<AccountShift]struct{}{}

// Accounts are the counters of one probe, an account for each CPU. They are made when the
// probe is first registered, so that a probe takes no more memory than its machine has
// CPUs.
type Accounts struct {
	base *account // of CPU 0; the others follow
	n    int
}

// Open makes the accounts of n CPUs, all at zero.
//
// Context: goroutine, with no hit of the probe under way.
func (a *Accounts) Open(n int) {
	if a.n == n {
		clear(unsafe.Slice(a.base, n))
		return
	}
	all := make([]account, n+1) // one more, so that no other data follows the last
	a.base, a.n = &all[0], n
}

// On returns the counters of a CPU, by Event, for a hit that counts several.
//
// Context: trap, on that CPU. Safe because: Open has been told of all CPUs.
func (a *Accounts) On(cpu int) *[NumEvents]uint64 {
	return &(*account)(unsafe.Add(unsafe.Pointer(a.base), uintptr(cpu)<<AccountShift)).n
}

// Count counts e on a CPU, in a hit that is not nested.
//
// Context: trap, on that CPU.
func (a *Accounts) Count(cpu int, e Event) { a.On(cpu)[e]++ }

// Uncount takes a Count back.
//
// Context: trap, on that CPU.
func (a *Accounts) Uncount(cpu int, e Event) { a.On(cpu)[e]-- }

// CountNested is Count for code that may run at the same time as another count on this CPU:
// in an interrupt, or in a handler that it interrupts.
//
// Context: any.
func (a *Accounts) CountNested(cpu int, e Event) { atomic.AddUint64(&a.On(cpu)[e], 1) }

func (a *Accounts) sum(e Event) (n uint64) {
	for cpu := range a.n {
		n += atomic.LoadUint64(&a.On(cpu)[e])
	}
	return n
}

// Ledger returns the sums.
//
// Context: any.
func (a *Accounts) Ledger() Ledger {
	nested := a.sum(Missed)
	return Ledger{
		// What is entered last: a hit that is counted meanwhile is in flight, not lost.
		Handled: a.sum(Handled), Declined: a.sum(Declined),
		Recursion: a.sum(Recursion) + nested, NoInst: a.sum(NoInst),
		Disarmed: a.sum(Disarmed), Abandoned: a.sum(Abandoned),
		Entered: a.sum(Entered) + nested,
	}
}
