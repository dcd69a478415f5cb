package ledger

import (
	"cmp"
	"fmt"
	"sync/atomic"
	"syscall"
	"unsafe"

	"sonde/kernel/cpu/percpu"
)

// A Ledger counts what became of every hit of a probe. Each hit that was entered has been handled or missed for one
// of the reasons, or is in flight: Unexplained is 0 whenever it is read, unless the handler of a probe that is no
// return probe is running.
type Ledger struct {
	Entered   uint64 // times the probed instruction was reached with the probe armed
	Handled   uint64 // its handler has completed; of a return probe, the return handler
	Declined  uint64 // return probe: its entry handler declined this call
	Recursion uint64 // reached inside a handler
	NoInst    uint64 // return probe: all MaxActive instances in use
	Disarmed  uint64 // disabled or unregistered meanwhile; of a return probe, unregistered before the call returned
	Abandoned uint64 // the handler broke the rules; of a return probe, also calls that were left
	InFlight  uint64 // return probe: calls that have not returned yet

	// Unset is at how many places in programs the probe could not be set, each time a program has mapped one: what
	// is executed there is no hit. Why is the first reason.
	Unset uint64
	Why   string
}

// reasons is the sum of those for which hits were missed.
func (l Ledger) reasons() uint64 { return l.Recursion + l.NoInst + l.Disarmed + l.Abandoned }

// Missed is the sum of the reasons, and 1 for each place that is unset: how many hits it would have had is not known.
func (l Ledger) Missed() uint64 { return l.reasons() + l.Unset }

// Unexplained is how many hits are missing from the ledger.
func (l Ledger) Unexplained() int64 { return int64(l.Entered-l.InFlight) - l.ended() }

// Loss says what is unset, and why; "" if nothing is.
func (l Ledger) Loss() string {
	if l.Unset == 0 {
		return ""
	}
	return fmt.Sprintf("unset at %d of its places in programs: %s", l.Unset, l.Why)
}

// Plus returns the sum of both.
func (l Ledger) Plus(o Ledger) Ledger {
	return Ledger{
		l.Entered + o.Entered, l.Handled + o.Handled, l.Declined + o.Declined, l.Recursion + o.Recursion,
		l.NoInst + o.NoInst, l.Disarmed + o.Disarmed, l.Abandoned + o.Abandoned, l.InFlight + o.InFlight,
		l.Unset + o.Unset, cmp.Or(l.Why, o.Why),
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
	Called // entered, and handled unless it is abandoned
	NumEvents
)

// A Counter counts the hits of one probe in threads of programs, which change CPUs.
//
// Context: any, for all of its methods.
type Counter struct {
	n      [NumEvents]atomic.Uint64
	Flying atomic.Int64 // return probe: calls that have not returned
	unset  atomic.Uint64
	why    atomic.Pointer[string]
	fused  atomic.Pointer[percpu.Tally]
}

// Fused returns where at GS code counts hits that it has both entered and handled.
//
// Errors: ENOMEM there is no room, ENOENT the probe is gone.
func (c *Counter) Fused() (percpu.Offset, error) {
	if c.fused.Load() == nil {
		t, err := percpu.NewTally()
		if err != nil {
			return 0, err
		}
		if !c.fused.CompareAndSwap(nil, t) {
			t.Close()
		}
	}
	if at := c.fused.Load().At(); at != 0 {
		return at, nil
	}
	return 0, syscall.ENOENT
}

// EndFused keeps what was counted at Fused, where nothing counts any more.
func (c *Counter) EndFused() {
	if t := c.fused.Load(); t != nil {
		t.Close()
	}
}

// Count counts e.
func (c *Counter) Count(e Event) { c.n[e].Add(1) }

// Uncount takes a Count back.
func (c *Counter) Uncount(e Event) { c.n[e].Add(^uint64(0)) }

// Unset counts a place at which the probe could not be set, and keeps the first reason.
func (c *Counter) Unset(err error) {
	why := err.Error()
	c.why.CompareAndSwap(nil, &why)
	c.unset.Add(1)
}

// Begin counts a hit that is in flight until End says what has become of it, and returns how many are.
func (c *Counter) Begin() (inFlight int64) {
	inFlight = c.Flying.Add(1) // first: no reader may find it nowhere
	c.Count(Entered)
	return inFlight
}

// End counts what has become of a hit that is in flight.
func (c *Counter) End(e Event) {
	c.Count(e)
	c.Flying.Add(-1)
}

// Ledger returns the counts.
func (c *Counter) Ledger() Ledger {
	n := func(e Event) uint64 { return c.n[e].Load() }
	l := settled(func() uint64 { return n(Entered) }, c.Flying.Load, func() Ledger {
		return Ledger{Handled: n(Handled), Declined: n(Declined), NoInst: n(NoInst), Disarmed: n(Disarmed), Abandoned: n(Abandoned)}
	})
	if t := c.fused.Load(); t != nil {
		n := t.Sum()
		l.Entered, l.Handled = l.Entered+n, l.Handled+n
	}
	if why := c.why.Load(); why != nil {
		l.Unset, l.Why = c.unset.Load(), *why
	}
	return l
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
func (a *Accounts) Ledger() Ledger { return a.LedgerWith(func() int64 { return 0 }) }

// LedgerWith is Ledger for a return probe: inFlight counts the calls that have not returned.
//
// Context: any.
func (a *Accounts) LedgerWith(inFlight func() int64) Ledger {
	return settled(func() uint64 { return a.sum(Entered) + a.sum(Missed) + a.sum(Called) }, inFlight, func() Ledger {
		return Ledger{Handled: a.sum(Handled) + a.sum(Called), Declined: a.sum(Declined), Recursion: a.sum(Recursion) + a.sum(Missed),
			NoInst: a.sum(NoInst), Disarmed: a.sum(Disarmed), Abandoned: a.sum(Abandoned)}
	})
}

// Settle, if not nil, returns when each CPU has been outside of hits that are handled in trap context, unless this is
// trap context. Set at boot.
var Settle func()

// settled reads the counters of hits that go on meanwhile, so that none is missing: a hit is entered, in flight and
// ended, in this order, and is never nowhere in between, but for some instructions in trap context. So what had been
// entered before is in flight or has ended, if those are read in this order. What is entered meanwhile is in flight.
func settled(entered func() uint64, inFlight func() int64, ended func() Ledger) (l Ledger) {
	lost := int64(1)
	for try := 0; try < 2 && lost > 0; try++ {
		before := entered()
		if try > 0 && Settle != nil {
			Settle()
		}
		flying := inFlight()
		l = ended()
		lost = max(0, int64(before)-flying-l.ended())
		l.Entered = entered()
		l.InFlight = uint64(max(0, int64(l.Entered)-l.ended()-lost))
	}
	return l
}

// ended is how many hits are not in flight.
func (l Ledger) ended() int64 { return int64(l.Handled + l.Declined + l.reasons()) }
