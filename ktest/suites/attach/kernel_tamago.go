//go:build tamago

// Package attach tests links: one handler at places of every kind.
package attach

import (
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"

	"sonde/kallsyms"
	"sonde/kernel/goruntime"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/kwatch"
	"sonde/probe/attach"
	"sonde/probe/ledger"
)

func init() {
	suites.Add("attach/kernel_function", kernelFunction)
	suites.Add("attach/kernel_function_by_jump", byJump)
	suites.Add("attach/return_has_data_of_its_call", returnData)
	suites.Add("attach/return_has_room_for_calls_that_wait", waitingCalls)
	suites.Add("attach/entry_declines", declines)
	suites.Add("attach/pattern", pattern)
	suites.Add("attach/pattern_leaves_out_what_hits_use", patternSkips)
	suites.Add("attach/many_places_or_none", allOrNone)
	suites.Add("attach/many_places_of_several_kinds_or_none", allOrNoneOfTwo)
	suites.Add("attach/disabled_and_enabled", disabled)
	suites.Add("attach/hit_knows_where_and_when", whereAndWhen)
	suites.Add("attach/handler_that_allocates_is_named", allocates)
	suites.Add("attach/on_all_cpus_while_collecting", storm)
}

// pkg is how the names of the targets begin.
const pkg = "ktest/suites/attach."

//go:noinline
func square(n uint64) uint64 { return n * n }

//go:noinline
func squareToo(n uint64) uint64 { return n * n }

// attachTo attaches, or ends the case.
func attachTo(t *suites.T, f attach.Handler, o *attach.Options, places ...string) *attach.Link {
	l, err := attach.AttachTo(f, o, places...)
	t.Must(err)
	return l
}

// expect compares l's account: entered and handled.
func expect(t *suites.T, l *attach.Link, entered, handled uint64) {
	if got := l.Ledger(); got.Entered != entered || got.Handled != handled || got.Unexplained() != 0 {
		t.Errorf("%+v, want %d entered and %d handled", got, entered, handled)
	}
}

// where names an address: symbol+offset.
func where(addr uint64) string { return kallsyms.Where(addr) }

// hits is counted by handlers, which may not store pointers.
var hits, bad atomic.Uint64

func countHit(*attach.Hit) { hits.Add(1) }

func kernelFunction(t *suites.T) {
	hits.Store(0)
	l := attachTo(t, countHit, nil, pkg+"square", pkg+"squareToo+0x0")
	for i := range uint64(500) {
		if square(i) != squareToo(i) {
			t.Errorf("%d: the probes change the result", i)
		}
	}
	if hits.Load() != 1000 {
		t.Errorf("%d hits", hits.Load())
	}
	if p := l.Places(); len(p) != 2 || p[0].Ledger.Handled != 500 || p[1].Where != "sonde/"+pkg+"squareToo+0x0" {
		t.Errorf("%+v", p)
	}
	expect(t, l, 1000, 1000)
	l.Close()
	square(1)
	expect(t, l, 1000, 1000)
	if hits.Load() != 1000 {
		t.Errorf("the handler is called after Close")
	}
}

func byJump(t *suites.T) {
	for _, f := range []attach.Handler{countHit, nil} {
		hits.Store(0)
		l := attachTo(t, f, nil, pkg+"square")
		kprobes.AwaitJumps()
		if way := l.Places()[0].Way; way != "jump" {
			t.Errorf("the way is %s", way)
		}
		for i := range uint64(500) {
			square(i)
		}
		l.Close()
		expect(t, l, 500, 500)
		if f != nil && hits.Load() != 500 {
			t.Errorf("%d hits", hits.Load())
		}
	}
}

// noteArgument is an entry handler: the argument becomes the call's data.
func noteArgument(h *attach.Hit) bool {
	h.Data[1] = h.Regs.AX
	return true
}

func compareResult(h *attach.Hit) {
	hits.Add(1)
	if !h.Returns || len(h.Data) != 2 || h.Data[1]*h.Data[1] != h.Result() {
		bad.Add(1)
	}
}

func returnData(t *suites.T) {
	hits.Store(0)
	bad.Store(0)
	l := attachTo(t, compareResult, &attach.Options{Entry: noteArgument, Data: 2, Active: 64}, "ret:"+pkg+"square", "ret:"+pkg+"squareToo")
	for range 8 {
		t.Go(func() {
			for i := range uint64(200) {
				square(i)
				squareToo(i)
				runtime.Gosched()
			}
		})
	}
	t.Wait()
	l.Close()
	expect(t, l, 3200, 3200)
	if hits.Load() != 3200 || bad.Load() != 0 {
		t.Errorf("%d returns, %d of them with data of another call", hits.Load(), bad.Load())
	}
}

//go:noinline
func waitFor(c chan bool) bool { return <-c }

// waitingCalls: far more calls than there are CPUs are in progress at once, and none is missed, but for those
// beyond the room that a link has when it does not say how much.
func waitingCalls(t *suites.T) {
	for calls, missed := range map[int]uint64{200: 0, 266: 10} {
		l := attachTo(t, countHit, nil, "ret:"+pkg+"waitFor")
		c := make(chan bool)
		for range calls {
			t.Go(func() { waitFor(c) })
		}
		t.Until("all calls", func() bool { return l.Ledger().Entered == uint64(calls) })
		close(c)
		t.Wait()
		l.Close()
		if got := l.Ledger(); got.NoInst != missed || got.Handled != uint64(calls)-missed || got.Unexplained() != 0 {
			t.Errorf("%d calls: %+v", calls, got)
		}
	}
}

func odd(h *attach.Hit) bool { return h.Regs.AX%2 == 1 }

func declines(t *suites.T) {
	hits.Store(0)
	l := attachTo(t, countHit, &attach.Options{Entry: odd}, "ret:"+pkg+"square")
	for i := range uint64(100) {
		square(i)
	}
	l.Close()
	if got := l.Ledger(); got.Declined != 50 || got.Handled != 50 || hits.Load() != 50 {
		t.Errorf("%+v, %d hits", got, hits.Load())
	}
}

func pattern(t *suites.T) {
	hits.Store(0)
	l := attachTo(t, countHit, nil, pkg+"square*", "ret:"+pkg+"square*")
	square(squareToo(3))
	l.Close()
	if hits.Load() != 4 || len(l.Places()) != 4 || l.Skipped() != 0 {
		t.Errorf("%d hits at %d places", hits.Load(), len(l.Places()))
	}
	_, err := attach.AttachTo(nil, nil, pkg+"cube*")
	if !errors.Is(err, syscall.ENOENT) || !strings.Contains(err.Error(), "cube*") {
		t.Errorf("a pattern that nothing fits: %v", err)
	}
}

func patternSkips(t *suites.T) {
	l := attachTo(t, nil, nil, "arch/amd64/trap.*")
	n := len(l.Places())
	l.Close()
	if n == 0 || l.Skipped() == 0 {
		t.Errorf("%d places, %d left out", n, l.Skipped())
	}
	if _, err := attach.AttachTo(nil, nil, "sonde/kprobes.on*"); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("a pattern of what hits use: %v", err)
	}
}

func allOrNone(t *suites.T) {
	as := asItWas(t)
	for place, errno := range map[string]syscall.Errno{
		"kprobes.onBreakpoint": syscall.EINVAL, "no.such": syscall.ENOENT, pkg + "square+0x1": syscall.EILSEQ, "ret:" + pkg + "square+0x1": syscall.EINVAL,
	} {
		_, err := attach.AttachTo(countHit, nil, pkg+"square", "ret:"+pkg+"squareToo", place)
		if !errors.Is(err, errno) {
			t.Errorf("%s: %v, want %v", place, err, errno)
		}
	}
	as()
}

// allOrNoneOfTwo: nor is anything left if a kind refuses its last place when another has its probes already.
func allOrNoneOfTwo(t *suites.T) {
	as := asItWas(t)
	events := []string{"event:sched:sched_switch", "event:irq:irq_handler_exit", "event:go:park", "x@" + pkg + "squareToo"}
	for place, errno := range map[string]syscall.Errno{
		"event:go:none": syscall.ENOENT, "w@no.such": syscall.ENOENT, pkg + "square+0x1": syscall.EILSEQ,
	} {
		_, err := attach.AttachTo(countHit, nil, append(events, pkg+"square", "ret:"+pkg+"squareToo", place)...)
		if !errors.Is(err, errno) {
			t.Errorf("%s: %v, want %v", place, err, errno)
		}
		as()
	}
}

// asItWas returns a function that fails if there are other probes, watchpoints or links than there were, or hits.
func asItWas(t *suites.T) func() {
	count := func() [3]int { return [3]int{len(kprobes.All()), len(kwatch.All()), len(attach.Links())} }
	before := count()
	return func() {
		hits.Store(0)
		square(squareToo(2))
		if now := count(); now != before || hits.Load() != 0 {
			t.Errorf("%d probed places, watchpoints and links; %d before; %d hits", now, before, hits.Load())
		}
	}
}

func disabled(t *suites.T) {
	hits.Store(0)
	l := attachTo(t, countHit, &attach.Options{Disabled: true}, pkg+"square", "ret:"+pkg+"squareToo")
	defer l.Close()
	call := func() { square(squareToo(3)) }
	call()
	for range 20 {
		t.Must(l.Enable(true))
		call()
		t.Must(l.Enable(false))
		call()
	}
	if hits.Load() != 40 || !l.Places()[1].Disabled {
		t.Errorf("%d hits of 40, %+v", hits.Load(), l.Places()[1])
	}
	expect(t, l, 40, 40)
}

// last is what a handler has seen of its hit.
var last struct{ cpu, goid, time, addr, ip atomic.Uint64 }

func look(h *attach.Hit) {
	last.cpu.Store(uint64(h.CPU()))
	last.goid.Store(h.Goid())
	last.time.Store(uint64(h.Time()))
	last.addr.Store(h.Place.Addr)
	last.ip.Store(h.Regs.IP)
}

func whereAndWhen(t *suites.T) {
	l := attachTo(t, look, nil, pkg+"square")
	defer l.Close()
	for range 50 {
		was := last.time.Load()
		square(2)
		if g := goruntime.Goid(goruntime.Self()); last.goid.Load() != g {
			t.Errorf("goroutine %d, want %d", last.goid.Load(), g)
		}
		if last.time.Load() <= was || last.addr.Load() != l.Places()[0].Addr || last.ip.Load() != last.addr.Load()+1 && last.ip.Load() != last.addr.Load() {
			t.Errorf("time %d after %d, place %#x, ip %#x", last.time.Load(), was, last.addr.Load(), last.ip.Load())
		}
	}
}

// sink keeps what allocate allocates.
var sink atomic.Pointer[[64]byte]

func allocate(*attach.Hit) { sink.Store(new([64]byte)) }

func allocates(t *suites.T) {
	since := suites.Mark()
	l := attachTo(t, allocate, nil, pkg+"square")
	if got := square(7); got != 49 {
		t.Errorf("the function returns %d", got)
	}
	square(8)
	l.Close()
	if got := l.Ledger(); got.Abandoned != 1 || got.Handled != 0 || got.Unexplained() != 0 {
		t.Errorf("%+v", got)
	}
	if n := suites.Logged(since, "allocates memory: new", "at ktest/suites/attach/kernel_tamago.go:"); n != 1 {
		t.Errorf("the log does not say where the handler allocates")
	}
}

// storm: hits on all CPUs, by jump and by breakpoint, while the collector runs and the link is enabled
// and disabled: each is in the account.
func storm(t *suites.T) {
	t.SeveralProcessors()
	hits.Store(0)
	links := []*attach.Link{
		attachTo(t, countHit, nil, pkg+"square*"),
		attachTo(t, countHit, &attach.Options{Active: 256}, "ret:"+pkg+"square*"),
	}
	var calls atomic.Uint64
	var over atomic.Bool
	for range 2 * runtime.NumCPU() {
		t.Go(func() {
			for i := uint64(0); !over.Load(); i++ {
				square(i)
				squareToo(i)
				calls.Add(2)
				if i%64 == 0 {
					runtime.Gosched()
				}
			}
		})
	}
	for range suites.Rounds(15, 60) {
		runtime.GC()
		for _, l := range links {
			t.Must(l.Enable(false))
			t.Must(l.Enable(true))
		}
	}
	over.Store(true)
	t.Wait()
	var got ledger.Ledger
	for _, l := range links {
		l.Close()
		got = got.Plus(l.Ledger())
	}
	if got.Unexplained() != 0 || got.Handled != hits.Load() || got.Entered > 2*calls.Load() || got.Handled == 0 {
		t.Errorf("%+v, %d hits in %d calls", got, hits.Load(), calls.Load())
	}
	t.Logf("%d hits in %d calls", hits.Load(), calls.Load())
}
