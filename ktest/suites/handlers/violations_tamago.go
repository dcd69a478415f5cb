//go:build tamago

package handlers

import (
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"sonde/arch/amd64/trap"
	"sonde/kernel/cpu"
	"sonde/ktest/suites"
)

// A violation is what no handler may do. says is part of the reason that is logged.
type violation struct {
	name, says string
	f          func()
}

var (
	kept     atomic.Pointer[[]byte]
	nilMap   map[int]int
	nilWord  *uint64
	wildWord = uintptr(0x123456789000)
	empty    = make(chan int)
	full     = make(chan int)
	held     sync.Mutex
	sink     uint64
)

var violations = []violation{
	{"allocates", "", func() { b := make([]byte, 100); kept.Store(&b) }},
	{"panics", "panic", func() { panic("a handler's") }},
	{"writes_to_a_nil_map", "panic", func() { nilMap[1] = 2 }},
	{"receives", "channel operation", func() { sink = uint64(<-empty) }},
	{"sends", "channel operation", func() { full <- 1 }},
	{"selects", "channel operation", func() {
		select {
		case <-empty:
		case full <- 1:
		}
	}},
	{"locks_what_is_held", "", func() { held.Lock() }},
	{"sleeps", "", func() { time.Sleep(time.Millisecond) }},
	{"reads_through_nil", "#PF", func() { sink = *nilWord }},
	// Safe because: it is not, and that is the point.
	{"writes_through_a_wild_pointer", "#PF", func() { **(**uint64)(unsafe.Pointer(&wildWord)) = 1 }},
	{"executes_an_invalid_opcode", "#UD", trap.InvalidOpcode},
	{"divides_by_zero", "panic", func() { sink = 1 / sink0 }},
	{"recurses_without_end", "stack overflow", func() { sink = forever(1) }},
}

var sink0 uint64

//go:noinline
func forever(n uint64) uint64 {
	var pad [32]uint64
	pad[n%32] = n
	return forever(n+1) + pad[(n+1)%32]
}

func init() {
	for i, m := range violations {
		suites.Add("handlers/"+m.name, func(t *suites.T) {
			someOnOthers(t, i)
			everywhere(t, m)
		})
	}
	suites.Add("handlers/never_returns", neverReturns)
	suites.Add("handlers/runs_too_long_but_ends", overstays)
	held.Lock() // for good
}

// neverReturns makes a handler loop on one CPU.
func neverReturns(t *suites.T) {
	defer limit(t, "100")()
	everywhere(t, violation{"never_returns", "runs too long", loop})
}

// loop runs for longer than the watch allows.
func loop() {
	for end := cpu.Nanotime() + 20e9; cpu.Nanotime() < end; {
		sink++
	}
}

// overstays ends long after its limit.
func overstays(t *suites.T) {
	defer limit(t, "50")()
	o := newAttempt(violation{"overstays", "", func() {
		for end := cpu.Nanotime() + 2e9; cpu.Nanotime() < end; {
			sink++
		}
	}})
	for _, k := range kinds {
		b := k.bad(o.once)
		isFound(t, k.name, o, b)
		if l := b.ledger(); l.Unexplained() != 0 {
			t.Errorf("%s: account %+v, unexplained %d", k.name, l, l.Unexplained())
		}
	}
}

// isFound makes the bad handler run for too long, and waits for the watch to see.
func isFound(t *suites.T, what string, o *attempt, b *bad) {
	since := suites.Mark()
	t.Must(b.register())
	defer b.unregister()
	o.armed.Store(true)
	suites.Equal(t, what+": victim", victim(5), 18)
	t.Until("the watch", func() bool { return !b.canEnable() })
	if n := suites.Logged(since, "the probe is disabled"); n != 1 {
		t.Errorf("%s: reported %d times", what, n)
	}
}
