//go:build tamago

package user

import (
	"runtime"
	"slices"
	"sync/atomic"
	"time"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	ring3 "sonde/arch/amd64/user"
	"sonde/kernel/cpu"
	"sonde/kernel/grace"
	"sonde/kernel/irq"
	"sonde/kernel/smp"
	"sonde/ktest/suites"
	"sonde/linux/usermode/bare"
)

func init() {
	suites.Add("user/loops_do_not_stop_the_machine", loopsAndMachine)
	suites.Add("user/loops_are_asked_to_yield", loopsAreAsked)
	suites.Add("user/loops_do_not_drive_each_other_out", loopsAndThreads)
	suites.Add("user/timers_fire_beside_loops", loopsAndTimers)
	suites.Add("user/interrupts_wake_goroutines_beside_loops", loopsAndInterrupts)
	suites.Add("user/kick_gets_a_loop_back", kick)
	suites.Add("user/shootdown_changes_what_a_loop_reads", shootdown)
	suites.Add("user/threads_keep_their_registers", threadsKeep)
}

// looping are programs that never make a system call.
type looping struct {
	t       *suites.T
	stop    atomic.Bool
	threads []*ring3.Context
	events  atomic.Int64
	rounds  []atomic.Int64 // of each thread, from AX
}

// loops starts n threads of p, which make no system calls, each in a goroutine. make, if
// not nil, prepares the i-th. An exception is an error.
func loops(t *suites.T, p *program, n int, prepare func(i int, c *ring3.Context)) *looping {
	l := &looping{t: t, rounds: make([]atomic.Int64, n)}
	for i := range n {
		c := p.thread()
		if prepare != nil {
			prepare(i, c)
		}
		l.threads = append(l.threads, c)
		t.Go(func() {
			for !l.stop.Load() {
				e := c.Run()
				if l.events.Add(1); e.Exception() || e == ring3.SystemCall {
					t.Fatalf("thread %d: %s, AX %#x", i, what(c, e), c.Regs.AX)
				}
				l.rounds[i].Store(int64(c.Regs.AX))
			}
		})
	}
	t.Until("the loops to run", func() bool { return l.events.Load() >= int64(n) })
	return l
}

// end ends the loops.
func (l *looping) end() {
	l.stop.Store(true)
	for _, c := range l.threads {
		c.Kick()
	}
	l.t.Wait()
}

// bounded calls f n times, logs how long that took, and returns the median.
func bounded(t *suites.T, name string, n int, f func() error) time.Duration {
	took := make([]time.Duration, n)
	for i := range took {
		start := cpu.Nanotime()
		if err := f(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		took[i] = time.Duration(cpu.Nanotime() - start)
	}
	slices.Sort(took)
	median, longest := took[n/2], took[n-1]
	t.Logf("%s: %v, at most %v", name, median.Round(time.Microsecond), longest.Round(time.Microsecond))
	if longest > suites.Limit/4 {
		t.Errorf("%s took %v", name, longest)
	}
	return median
}

// loopsAndMachine has a loop for each CPU and one more.
func loopsAndMachine(t *suites.T) {
	t.SeveralProcessors()
	_, spin, _, _, _, _ := pieces()
	p := load(t, piece(t, spin))
	defer p.Close()
	l := loops(t, p, cpu.Num()+1, nil)
	defer l.end()
	n := suites.Rounds(8, 20)
	bounded(t, "garbage collection", n, func() error { runtime.GC(); return nil })
	bounded(t, "grace period", n, func() error { grace.Synchronize(); return nil })
	bounded(t, "stop machine", n, func() error {
		_, err := smp.StopMachine(func([]*amd64.Regs) error { return nil })
		return err
	})
	bounded(t, "stop the world", n, stopTheWorld)
	bounded(t, "call on all CPUs", n, func() error { smp.CallAll(func() {}); return nil })
	bounded(t, "another goroutine", n, func() error {
		done := make(chan bool)
		go func() { done <- true }()
		<-done
		return nil
	})
	before := make([]int64, len(l.threads))
	for i := range before {
		before[i] = l.rounds[i].Load()
	}
	for i := range before {
		t.Until("each loop to go on", func() bool { return l.rounds[i].Load() > before[i] })
	}
}

// loopsAndThreads has more threads of the runtime than CPUs, each with a program. A thread that waits
// gets the other's CPU; the other, which yielded, must then wait for the end of a slice.
func loopsAndThreads(t *suites.T) {
	const least = 1000
	_, spin, _, _, _, _ := pieces()
	p := load(t, piece(t, spin))
	defer p.Close()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cpu.Num() + 1))
	l := loops(t, p, cpu.Num()+1, nil)
	defer l.end()
	begun, events, rounds := time.Now(), l.events.Load(), l.sum()
	for time.Since(begun) < 100*time.Millisecond || l.events.Load() < events+20 {
		time.Sleep(10 * time.Millisecond)
	}
	events, rounds = l.events.Load()-events, l.sum()-rounds
	t.Logf("%d rounds of the loops, which left ring 3 %d times", rounds, events)
	if rounds < least*events {
		t.Errorf("%d rounds of the loops, which left ring 3 %d times: fewer than %d each time", rounds, events, least)
	}
}

// sum returns the rounds of all threads.
func (l *looping) sum() (n int64) {
	for i := range l.rounds {
		n += l.rounds[i].Load()
	}
	return n
}

func stopTheWorld() error { runtime.ReadMemStats(new(runtime.MemStats)); return nil }

// loopsAreAsked has a CPU for each loop, and one to ask: the runtime's request to yield must
// not wait until something else interrupts them.
func loopsAreAsked(t *suites.T) {
	if cpu.Num() == 1 {
		t.Skipf("one CPU: who asks has it")
	}
	_, spin, _, _, _, _ := pieces()
	p := load(t, piece(t, spin))
	defer p.Close()
	l := loops(t, p, cpu.Num()-1, nil)
	defer l.end()
	// Measured is the time until each has been out of ring 3 once.
	inside := func() bool {
		return !slices.ContainsFunc(l.threads, func(c *ring3.Context) bool { return !running(c) })
	}
	n := suites.Rounds(25, 25)
	var interrupts, world time.Duration
	t.Until("stopping the world to take no longer than interrupts to all CPUs, which a busy host only delays", func() bool {
		var times [2][]time.Duration
		for range n {
			for i, ask := range []func(){func() { smp.CallAll(func() {}) }, func() { stopTheWorld() }} {
				t.Until("the loops to be in ring 3", inside)
				start := cpu.Nanotime()
				ask()
				times[i] = append(times[i], time.Duration(cpu.Nanotime()-start))
			}
		}
		slices.Sort(times[0])
		slices.Sort(times[1])
		interrupts, world = times[0][n/2], times[1][n/2]
		return world <= 4*interrupts+time.Millisecond
	})
	t.Logf("medians: an interrupt to all CPUs %v, stopping the world %v", interrupts, world)
}

// loopsAndTimers: a P's timers are looked at when goroutines are switched.
func loopsAndTimers(t *suites.T) {
	_, spin, _, _, _, _ := pieces()
	p := load(t, piece(t, spin))
	defer p.Close()
	l := loops(t, p, cpu.Num(), nil)
	defer l.end()
	bounded(t, "sleep of 1 ms", 50, func() error { time.Sleep(time.Millisecond); return nil })
	fired := make(chan bool)
	bounded(t, "timer of 1 ms", 50, func() error {
		time.AfterFunc(time.Millisecond, func() { fired <- true })
		<-fired
		return nil
	})
}

// loopsAndInterrupts: an interrupt wakes a thread, which needs a CPU.
func loopsAndInterrupts(t *suites.T) {
	_, spin, _, _, _, _ := pieces()
	p := load(t, piece(t, spin))
	defer p.Close()
	l := loops(t, p, cpu.Num(), nil)
	defer l.end()
	var event irq.Event
	bounded(t, "waking from an interrupt", 50, func() error {
		go smp.CallAll(func() {
			if cpu.ID() == 0 {
				event.Wake()
			}
		})
		event.Wait(-1)
		return nil
	})
}

// kick sends a thread out of ring 3 and sees that it stays out until it has asked. It must
// be the kick that gets it out, not the next interrupt.
func kick(t *suites.T) {
	_, spin, _, _, _, _ := pieces()
	p := load(t, piece(t, spin))
	defer p.Close()
	c := p.thread()
	var rounds, byTimer atomic.Int64
	const n = 200
	t.Go(func() {
		for last := ring3.Event(0); rounds.Load() < n; {
			e := c.Run()
			if e == ring3.NotEntered && c.Kicked() {
				if last == amd64.VecTimer {
					byTimer.Add(1)
				}
				rounds.Add(1)
			}
			last = e
		}
	})
	for i := range int64(n) {
		if cpu.Num() > 1 {
			t.Until("the thread to be in ring 3", func() bool { return running(c) })
		}
		c.Kick()
		t.Until("the kick", func() bool { return rounds.Load() > i })
	}
	t.Wait()
	t.Logf("%d of %d got out by the timer", byTimer.Load(), n)
	if cpu.Num() > 1 && byTimer.Load() > n/4 { // with one CPU, the goroutine that kicks has it
		t.Errorf("%d of %d kicks had to wait for a timer", byTimer.Load(), n)
	}
	c.Kick()
	for range 10 {
		if e := c.Run(); e != ring3.NotEntered {
			t.Fatalf("kicked and not asked: %s", what(c, e))
		}
	}
	if !c.Kicked() || c.Kicked() {
		t.Errorf("Kicked must tell once")
	}
}

// running reports whether c is in ring 3 somewhere.
func running(c *ring3.Context) bool {
	for id := range cpu.Num() {
		if trap.Program(id) == uintptr(unsafe.Pointer(c)) {
			return true
		}
	}
	return false
}

// shootdown changes a page under loops that read it. After Changed none may read
// the old one.
func shootdown(t *suites.T) {
	const other = dataAt + 1<<30
	_, _, _, reads, _, _ := pieces()
	p := load(t, piece(t, reads))
	defer p.Close()
	pages := [2]*bare.Page{new(bare.Page), new(bare.Page)}
	for i := range pages {
		*word(pages[i], 0) = uint64(i)
	}
	t.Must(p.Put(other, pages[0], amd64.PTE_NX))
	n := max(cpu.Num()-1, 1) // so that they run all the time
	rounds := suites.Rounds(300, 300) / n
	l := loops(t, p, n, func(i int, c *ring3.Context) { c.Regs.SI, c.Regs.DI = other, uint64(dataAt+64*i) })
	defer l.end()
	for round := 1; round <= rounds; round++ {
		t.Must(p.Put(other, pages[round&1], amd64.PTE_NX))
		p.Changed()
		// What was read before may still be on its way into memory once.
		for i := range n {
			read, count := word(p.data, 64*i), word(p.data, 64*i+8)
			from := atomic.LoadUint64(count)
			t.Until("a loop to go on", func() bool { return atomic.LoadUint64(count) > from+2 })
			if got := atomic.LoadUint64(read); got != uint64(round&1) {
				t.Fatalf("round %d: loop %d still reads %d", round, i, got)
			}
		}
	}
}

// threadsKeep has threads check all their registers, twice as many as CPUs, while the machine does
// other things.
func threadsKeep(t *suites.T) { keepBusy(t, func() {}, func() bool { return true }) }

// keepBusy runs such threads for a while and until enough is true, and disturb again and
// again meanwhile.
func keepBusy(t *suites.T, disturb func(), enough func() bool) {
	_, _, keeps, _, _, _ := pieces()
	p := load(t, piece(t, keeps))
	defer p.Close()
	n := 2 * cpu.Num()
	pages := make([]*bare.Page, n)
	l := loops(t, p, n, func(i int, c *ring3.Context) {
		own := uint64(dataAt + (i+1)*pageSize)
		var err error
		pages[i], err = p.Map(own, amd64.PTE_W|amd64.PTE_NX)
		t.Must(err)
		id := uint64(i+1) * 0x1_0203_0405
		*word(pages[i], 0) = id
		*word(pages[i], pageSize/2+8) = uint64(i & 1) // every other one leaves the x87 alone
		c.Regs.BX, c.Regs.SP = id, own+pageSize/2
		c.FSBase, c.GSBase = own, own
	})
	defer l.end()
	const least = time.Second
	start := time.Now()
	for round := 0; !t.Failed() && (time.Since(start) < least || !enough()); round++ {
		if time.Since(start) > suites.Limit {
			t.Fatalf("not enough in %v", suites.Limit)
		}
		if round%8 == 0 {
			runtime.GC()
		}
		disturb()
		floats()
		runtime.Gosched()
	}
	for i := range n {
		if rounds := atomic.LoadUint64(word(pages[i], pageSize/2)); rounds < 100 {
			t.Errorf("thread %d looked only %d times", i, rounds)
		}
	}
	t.Logf("%d events", l.events.Load())
}

var float = 1.0

// floats uses the kernel's SSE registers.
func floats() {
	for i := range 100 {
		float = float*1.000001 + float64(i)
	}
}
