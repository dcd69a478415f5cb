//go:build tamago

package optprobe

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"sonde/arch/amd64"
	"sonde/kallsyms"
	"sonde/kallsyms/entries"
	"sonde/kernel/cpu"
	"sonde/kernel/grace"
	"sonde/kernel/kthread"
	"sonde/kernel/printk"
	"sonde/kernel/refusal"
	"sonde/kernel/tape"
	"sonde/kprobes"
	"sonde/kprobes/detour"
	"sonde/sysctl"
)

const (
	// delay is how long the optimizer waits after a change, so that a probe that is removed
	// at once costs nothing, and a batch needs only one stop of the machine.
	delay = time.Millisecond
	// perStop is how many jumps are written at one stop.
	perStop = 256
	// first is how many times the places that are hit most come first: the first time, nothing has called the
	// functions that make jumps.
	first = 3
	// tries is how often a stop that finds a CPU in a region is repeated; pause is the time
	// until the next attempt after that.
	tries = 20
	pause = time.Second
)

// Optimization says whether probes are optimized.
//
// Source: kprobes.txt §1.4.6, appendix B.
var Optimization = sysctl.NewBool("debug.kprobes-optimization", true,
	"replace the breakpoints of probes by jumps where that is safe")

// worker is the thread that optimizes. It implements kprobes.Optimizer.
type worker struct {
	pending atomic.Bool // there may be something to do
	wake    chan struct{}
}

// enteredAt lists where functions of the image are entered other than at their beginning.
// Set once, at boot.
var enteredAt *entries.Table

// Locks, in this order: busy, planning, that of kprobes, mu. busy is held from listing the
// candidates until their jumps are in: two goroutines doing this at once would each leave
// out what the other has begun.
var busy, planning, mu sync.Mutex

// verdict is the result of the safety check at a place.
type verdict struct {
	size int // of the region, in bytes
	why  Obstacle
}

// guarded by planning:
var (
	scan     Scan
	verdicts = map[uintptr]verdict{} // by address; code does not change
	full     bool                    // there was no detour left when one was last wanted
)

// guarded by mu:
var stats Stats

// Stats are the optimizer's counts since boot.
type Stats struct {
	Jumps   int           // put in
	Stops   int           // of the machine, to put them in
	Stopped time.Duration // in all
	Longest time.Duration // the longest stop
	Retries int           // stops that found a CPU in a region
	Detours int           // in use now
}

// Counts returns the optimizer's statistics.
func Counts() Stats {
	mu.Lock()
	defer mu.Unlock()
	stats.Detours = kprobes.Detours().Used()
	return stats
}

// unable is the error of Init.
var unable error

// Able reports whether the processor has what detours need.
//
// Context: any.
func Able() bool { return amd64.HasLAHF(cpu.CPUID) }

// Init starts the optimizer.
//
// Context: boot, goroutine, after kprobes.Init.
// Errors: the image does not say where its functions are entered, so no place is known to
// be safe; ENOTSUP the processor lacks what detours need.
func Init() error {
	unable = start()
	return unable
}

func start() error {
	if !Able() {
		return refusal.New(syscall.ENOTSUP, "optprobe: the processor lacks LAHF in 64-bit mode (LAHF_LM), so no probe becomes a jump")
	}
	table, err := entries.Kernel()
	if err != nil {
		return fmt.Errorf("optprobe: %w", err)
	}
	enteredAt = table
	w := &worker{wake: make(chan struct{}, 1)}
	kprobes.SetOptimizer(w)
	kthread.Run("kprobe-optimizer", w.run)
	refit := func(bool) error { kprobes.Refit(nil); refitPrograms(); return nil }
	detour.Fusing.OnChange(refit)
	detour.Plain.OnChange(refit)
	Optimization.OnChange(func(on bool) error { kprobes.SetJumps(on); return nil })
	return nil
}

func (w *worker) Kick() {
	w.pending.Store(true)
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *worker) Finish() {
	busy.Lock()
	defer busy.Unlock()
	if !w.pending.Swap(false) {
		return
	}
	if err := optimize(); err != nil {
		printk.Warn("optprobe: %s; trying again", err.Error())
		time.AfterFunc(pause, w.Kick)
	}
}

func (w *worker) run() {
	for range w.wake {
		time.Sleep(delay)
		w.Finish()
		reclaim()
	}
}

// Optimize gives a jump to every probe that may have one, unless Optimization is off. When
// it returns, no other goroutine is still about to do so for a probe that was there when
// Optimize was called.
//
// Errors: kprobes.ErrRetry; those of stopping the machine; that of Init.
func Optimize() error {
	if unable != nil {
		return unable
	}
	busy.Lock()
	defer busy.Unlock()
	return optimize()
}

// optimize is Optimize with busy held.
func optimize() error {
	err := putJumps()
	makeStubs()
	return err
}

// putJumps gives a jump to every probe that may have one.
func putJumps() error {
	if !Optimization.Get() {
		return nil
	}
	all := kprobes.Candidates()
	for round := 0; round < first && len(all) > 2*perStop; round++ {
		if err := jump(hottest(all)); err != nil {
			return err
		}
		all = kprobes.Candidates()
	}
	return jump(all)
}

// hottest returns those that are hit most, as many as have room in one stop. With probes on all functions, these are the
// functions that the optimizer itself calls, and it is slow as long as they have breakpoints.
func hottest(all []kprobes.Candidate) []kprobes.Candidate {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b kprobes.Candidate) int { return cmp.Compare(b.Hits, a.Hits) })
	return all[:perStop]
}

// jump gives candidates their jumps.
func jump(cands []kprobes.Candidate) error {
	list := prepare(cands)
	if len(list) == 0 {
		return nil
	}
	grace.Synchronize()
	for len(list) > 0 {
		n := min(len(list), perStop)
		if err := commit(list[:n]); err != nil {
			return err
		}
		list = list[n:]
	}
	return nil
}

// prepare returns the candidates that have a detour, and makes missing detours.
func prepare(cands []kprobes.Candidate) (list []kprobes.Candidate) {
	planning.Lock()
	defer planning.Unlock()
	var fn Function
	for _, c := range cands {
		if c.Detour != nil {
			list = append(list, c)
			continue
		}
		v, known := verdicts[c.Addr]
		if v.why.Reason != Fine {
			continue
		}
		if a := uint64(c.Addr); a < fn.Addr || a >= fn.Addr+uint64(len(fn.Code)) {
			fn = function(c.Addr)
		}
		if !known {
			v = check(fn, c.Addr)
		}
		if v.why.Reason == Fine && plant(fn, &c, v.size) {
			list = append(list, c)
		}
	}
	return list
}

// check makes the safety check for addr in fn. Called with planning held.
func check(fn Function, addr uintptr) (v verdict) {
	if scan.fn.Addr != fn.Addr {
		scan.Read(fn)
	}
	v.size, v.why = scan.Check(int(uint64(addr) - fn.Addr))
	verdicts[addr] = v
	return v
}

// plant makes the detour of a candidate in fn, whose region has size bytes. Called with
// planning held.
func plant(fn Function, c *kprobes.Candidate, size int) bool {
	head, ok := kprobes.Detours().Take(c.Addr)
	if !ok && !full {
		printk.Warn("optprobe: all %d detours are in use", kprobes.Detours().Used())
	}
	if full = !ok; full {
		return false
	}
	p, why := layout(&request{fn: fn, addr: c.Addr, head: head, size: size, check: c.Check, begins: c.Begins, lone: c.Lone, count: c.Count})
	if why.Reason == Fine {
		p.write()
		if c.Bind(&p.Detour) {
			if tape.On() {
				tape.Note(cpu.Rdtsc(), cpu.ID(), tape.DetourMade, uint64(p.Detour.Entry), uint64(p.Detour.Resume))
			}
			return true
		}
		p.give()
	} else {
		verdicts[c.Addr] = verdict{why: why}
	}
	return false
}

// manyReturned is how many unused detours are kept at most until the optimizer has time to
// free them.
const manyReturned = 64

// reclaim frees detours that no CPU is in any more, if there are many.
func reclaim() {
	if kprobes.Detours().Reap() >= manyReturned {
		grace.Synchronize()
		kprobes.Detours().Reap()
	}
}

// commit writes the jumps of list at one stop.
func commit(list []kprobes.Candidate) error {
	for try := 1; ; try++ {
		done, stopped, err := kprobes.Jump(list)
		account(done, stopped, err)
		if !errors.Is(err, kprobes.ErrRetry) || try == tries {
			return err
		}
		grace.Synchronize() // the CPU leaves the region, and cannot enter it again
	}
}

func account(done int, stopped time.Duration, err error) {
	mu.Lock()
	defer mu.Unlock()
	stats.Jumps += done
	stats.Stopped += stopped
	stats.Longest = max(stats.Longest, stopped)
	switch {
	case errors.Is(err, kprobes.ErrRetry):
		stats.Retries++
	case done > 0:
		stats.Stops++
	}
}

// function returns what the check needs to know about the function at addr.
func function(addr uintptr) Function {
	s, ok := kallsyms.Kernel().At(uint64(addr))
	if !ok {
		return Function{}
	}
	return Function{
		Addr:    s.Addr,
		Code:    kprobes.Original(uintptr(s.Addr), uintptr(s.Size)),
		Entries: enteredAt.Within(s.Addr, s.Size),
		Word:    word,
	}
}
