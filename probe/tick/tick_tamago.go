//go:build tamago

// Package tick attaches links to times: tick:99hz on each CPU, every:1s on one. The handlers are called
// in the timer's interrupt, with the registers that it has interrupted; those that may block are called
// in a goroutine of their own, which only every: has.
//
// A CPU takes the interrupt that is next after a tick is due, so a tick is late by one period at most.
// If the CPU could take none for longer (the machine was paused), the ticks of that time are left out.
package tick

import (
	"sync"
	"syscall"
	"time"
	"unsafe"

	"sonde/arch/amd64/goabi"
	"sonde/kernel/cpu"
	"sonde/kernel/grace"
	"sonde/kernel/irq"
	"sonde/kernel/refusal"
	"sonde/kernel/smp"
	"sonde/probe/attach"
	"sonde/probe/handler"
	"sonde/probe/ledger"
)

// Provider is the attach.Provider of ticks and of timers.
type Provider struct{}

// Init connects this package with the timer's interrupt.
//
// Context: boot, goroutine.
func Init() {
	handlers.Register(&states[0].State, unsafe.Sizeof(states[0]))
	irq.OnTick(onTimer)
}

// Can is part of attach.Provider.
func (Provider) Can(k attach.Kind) attach.Ability {
	if k == attach.Every {
		return attach.Blocks
	}
	return 0
}

// Attach is part of attach.Provider.
func (Provider) Attach(l *attach.Link, sites []attach.Site) (attach.Attachment, grace.Change, error) {
	a := make(attachment, len(sites))
	for i := range sites {
		a[i] = newTicker(&attach.Place{Link: l, Site: &sites[i], Where: sites[i].String()})
	}
	for _, t := range a {
		t.start()
	}
	return a, grace.Change{Each: []func(){smp.UsePeriods}}, nil
}

// mu serializes attaching and detaching.
var mu sync.Mutex

// A ticker is a place in time.
type ticker struct {
	place    *attach.Place
	handler  attach.Handler
	code     uintptr // the handler's
	period   int64   // ns
	all      bool    // on each CPU, not only on CPU 0
	due      []due   // by CPU
	flags    ledger.Flags
	accounts ledger.Accounts

	stop func() // of the goroutine
}

// due is when a CPU's next tick is, in ns since boot. Only that CPU changes it.
type due struct {
	at int64
	_  [56]byte // a cache line
}

const (
	disabled  ledger.Flags = 1 << iota // by Enable
	abandoned                          // its handler broke the rules
)

func newTicker(at *attach.Place) *ticker {
	t := &ticker{place: at, handler: at.Link.Handler, period: int64(at.Site.Period), due: make([]due, cpu.Num())}
	if t.handler == nil {
		t.handler = func(*attach.Hit) {}
	}
	if t.code = goabi.CodeOf(t.handler); at.Site.Kind == attach.Tick {
		t.all, t.period = true, int64(time.Second)/int64(at.Site.Hz)
	}
	if at.Link.Options.Disabled {
		t.flags.Set(disabled)
	}
	t.accounts.Open(cpu.Num())
	return t
}

// start makes the ticker tick.
func (t *ticker) start() {
	if t.place.Link.Options.Block {
		t.repeat()
		return
	}
	handler.Watch()
	for i := range t.due {
		t.due[i].at = cpu.Nanotime() + t.period
	}
	mu.Lock()
	defer mu.Unlock()
	tickers.Add(t)
	smp.AddPeriod(t.period)
}

// end makes it stop. Its handler has interrupts off.
func (t *ticker) end() grace.Change {
	if t.place.Link.Options.Block {
		return grace.Change{Then: []func(){t.stop}}
	}
	mu.Lock()
	defer mu.Unlock()
	was := tickers.Remove(t)
	smp.DropPeriod(t.period)
	return grace.Change{Each: []func(){smp.UsePeriods}, Then: []func(){func() { keep(was) }}}
}

// keep lets was live until here: an interrupt may have been reading it.
//
//go:noinline
func keep(**ticker) {}

// attachment is a link's times. It implements attach.Attachment.
type attachment []*ticker

func (a attachment) Detach() (c grace.Change) {
	for _, t := range a {
		c = c.With(t.end())
	}
	return c
}

// Enable is part of attach.Attachment.
//
// Errors: EINVAL the handler was abandoned.
func (a attachment) Enable(on bool) error {
	for _, t := range a {
		if on && t.flags.Has(abandoned) {
			return refusal.New(syscall.EINVAL, "tick: enable %s: its handler was abandoned", t.place.Where)
		}
	}
	for _, t := range a {
		if on {
			t.flags.Clear(disabled)
		} else {
			t.flags.Set(disabled)
		}
	}
	smp.CallAll(func() {}) // handlers have interrupts off
	return nil
}

func (a attachment) Places() []attach.Placed {
	list := make([]attach.Placed, len(a))
	for i, t := range a {
		way := "interrupt"
		if t.place.Link.Options.Block {
			way = "goroutine"
		}
		list[i] = attach.Placed{Place: t.place, Way: way, Disabled: t.flags.Has(disabled | abandoned), Ledger: t.accounts.Ledger()}
	}
	return list
}
