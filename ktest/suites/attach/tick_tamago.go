//go:build tamago

package attach

import (
	"errors"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"

	"sonde/kernel/cpu"
	"sonde/ktest/suites"
	"sonde/probe/attach"
	"sonde/probe/handler"
)

func init() {
	suites.Add("attach/tick_on_each_cpu", tickOnEachCPU)
	suites.Add("attach/timer_on_one_cpu", timerOnOneCPU)
	suites.Add("attach/timer_whose_handler_blocks", timerBlocks)
	suites.Add("attach/tick_disabled_and_enabled", tickDisabled)
	suites.Add("attach/tick_handlers_that_break_the_rules", tickBreaksRules)
	suites.Add("attach/ticks_inside_hits", ticksInsideHits)
}

// onCPU counts the ticks of each CPU.
var onCPU [32]atomic.Uint64

func countCPU(h *attach.Hit) {
	onCPU[h.CPU()].Add(1)
	if h.Regs.IP == 0 || h.MayBlock {
		bad.Add(1)
	}
}

// counted are the ticks of each CPU that is there.
func counted() []uint64 {
	n := make([]uint64, cpu.Num())
	for i := range n {
		n[i] = onCPU[i].Load()
	}
	return n
}

func tickOnEachCPU(t *suites.T) {
	bad.Store(0)
	for i := range onCPU {
		onCPU[i].Store(0)
	}
	l := attachTo(t, countCPU, nil, "tick:500hz")
	defer l.Close()
	for i, end := 0, time.Now().Add(suites.Limit); i < cpu.Num(); runtime.Gosched() {
		switch {
		case onCPU[i].Load() >= 20:
			i++
		case time.Now().After(end):
			was := counted()
			attachTo(t, nil, nil, "tick:1000hz").Close() // which sets the timers
			time.Sleep(time.Second)
			t.Fatalf("CPU %d does not tick: %v, and %v after all timers were set again", i, was, counted())
		}
	}
	l.Close()
	sum := uint64(0)
	for i := range onCPU {
		sum += onCPU[i].Load()
	}
	expect(t, l, sum, sum)
	time.Sleep(20 * time.Millisecond)
	expect(t, l, sum, sum)
	if bad.Load() != 0 {
		t.Errorf("%d ticks have no registers, or may block", bad.Load())
	}
}

// timerOnOneCPU: the interval is kept on the average.
func timerOnOneCPU(t *suites.T) {
	for i := range onCPU {
		onCPU[i].Store(0)
	}
	fast := attachTo(t, nil, nil, "tick:5000hz") // so that there are enough interrupts
	defer fast.Close()
	begin := time.Now()
	l := attachTo(t, countCPU, nil, "every:5ms")
	t.Until("ticks", func() bool { return onCPU[0].Load() >= 20 })
	l.Close()
	took := time.Since(begin)
	n := l.Ledger().Handled
	if n != onCPU[0].Load() || time.Duration(n)*5*time.Millisecond > took+5*time.Millisecond {
		t.Errorf("%d ticks in %v, %d of them on CPU 0", n, took, onCPU[0].Load())
	}
}

func timerBlocks(t *suites.T) {
	var n atomic.Int64
	l := attachTo(t, func(h *attach.Hit) {
		if h.MayBlock {
			time.Sleep(time.Millisecond)
			n.Add(1)
		}
	}, &attach.Options{Block: true}, "every:2ms")
	t.Until("ticks", func() bool { return n.Load() >= 5 })
	l.Close()
	expect(t, l, uint64(n.Load()), uint64(n.Load()))
	for what, f := range map[string]func(){"panics": func() { panic("of a test") }, "ends its goroutine": runtime.Goexit} {
		bad := attachTo(t, func(*attach.Hit) { f() }, &attach.Options{Block: true}, "every:1ms")
		t.Until("a hit of a handler that "+what, func() bool { return bad.Ledger().Abandoned == 1 })
		if err := bad.Enable(true); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("enabled after a handler that %s: %v", what, err)
		}
		bad.Close()
	}
	if _, err := attach.AttachTo(nil, &attach.Options{Block: true}, "tick:99hz"); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("a tick whose handler may block: %v", err)
	}
}

func tickDisabled(t *suites.T) {
	hits.Store(0)
	l := attachTo(t, countHit, &attach.Options{Disabled: true}, "tick:1000hz", "every:1ms")
	defer l.Close()
	t.Until("ticks of a disabled link", func() bool { return l.Ledger().Disarmed >= 10 })
	if hits.Load() != 0 {
		t.Errorf("%d ticks while it is disabled", hits.Load())
	}
	t.Must(l.Enable(true))
	t.Until("ticks", func() bool { return hits.Load() >= 10 })
	t.Must(l.Enable(false))
	n := hits.Load()
	time.Sleep(10 * time.Millisecond)
	if hits.Load() != n {
		t.Errorf("%d ticks after it was disabled", hits.Load()-n)
	}
}

var null *uint64

// tickBreaksRules: such a handler is abandoned in the interrupt, and the machine continues, with the other
// ticks of the same interrupt.
func tickBreaksRules(t *suites.T) {
	old := handler.Limit.Get()
	t.Must(handler.Limit.Store(200))
	defer func() { t.Must(handler.Limit.Store(old)) }()
	for what, f := range map[string]attach.Handler{
		"allocates memory":        allocate,
		"nil pointer dereference": func(*attach.Hit) { *null = 1 },
		"panic: of a test":        func(*attach.Hit) { panic("of a test") },
		"it runs too long": func(*attach.Hit) {
			for {
				cpu.Pause()
			}
		},
	} {
		since := suites.Mark()
		hits.Store(0)
		bad := attachTo(t, f, nil, "tick:100hz")
		good := attachTo(t, countHit, nil, "tick:100hz")
		t.Until(what, func() bool { return bad.Ledger().Abandoned > 0 })
		n := hits.Load()
		t.Until("ticks after "+what, func() bool { return hits.Load() >= n+10 })
		bad.Close()
		good.Close()
		if l := bad.Ledger(); l.Handled != 0 || l.Unexplained() != 0 || l.Abandoned > uint64(cpu.Num()) {
			t.Errorf("%s: %+v", what, l)
		}
		if l := good.Ledger(); l.Unexplained() != 0 || l.Handled != hits.Load() {
			t.Errorf("%s: the others: %+v, %d hits", what, l, hits.Load())
		}
		if n := suites.Logged(since, "tick: handler of tick:100hz at", what); n != 1 {
			t.Errorf("%s: %d reports", what, n)
		}
	}
}

// ticksInsideHits: ticks come in handlers that a jump calls, and both call a function that has a probe, so
// that a hit in a handler, which is missed, is interrupted by another one.
func ticksInsideHits(t *suites.T) {
	const below = 20
	hits.Store(0)
	l := attachTo(t, func(*attach.Hit) {
		hits.Add(1)
		for range below {
			squareToo(2)
		}
	}, nil, pkg+"square", pkg+"squareToo")
	ticks := attachTo(t, func(*attach.Hit) { squareToo(3) }, nil, "tick:2000hz")
	calls := uint64(0)
	t.Until("ticks", func() bool {
		for i := range uint64(100) {
			square(i)
		}
		calls += 100
		runtime.Gosched()
		return ticks.Ledger().Handled >= 200 && calls >= 5000
	})
	ticks.Close()
	l.Close()
	if got := l.Ledger(); got.Unexplained() != 0 || got.Handled != hits.Load() || l.Places()[0].Ledger.Handled != calls {
		t.Errorf("%+v, %d hits, %d calls", got, hits.Load(), calls)
	}
	at := ticks.Ledger()
	if at.Unexplained() != 0 || at.Handled != at.Entered {
		t.Errorf("ticks: %+v", at)
	}
	if got, want := l.Places()[1].Ledger, at.Handled+below*hits.Load(); got.Handled+got.Missed() != want {
		t.Errorf("%d ticks and %d handlers make %d calls: %+v", at.Handled, hits.Load(), want, got)
	}
}
