//go:build tamago

package optimized

import (
	"bytes"
	"errors"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"sonde/arch/amd64"
	"sonde/arch/amd64/insn"
	"sonde/kernel/cpu"
	"sonde/kernel/smp"
	"sonde/kernel/text"
	"sonde/kprobes"
	"sonde/ktest/suites"
)

func init() {
	suites.Add("optimized/cpu_inside_the_region", insideRegion)
	suites.Add("optimized/optimizer_waits_for_a_cpu_inside", optimizerWaits)
}

// fill sets n bytes from p on, by filler, whose loop stays inside its region.
func fill(p *byte, n uint64)
func fillerAddr() uintptr

const fillSize = 4 << 20

// A stay is a goroutine that fills a buffer, and so is inside filler's region
// for milliseconds at a time.
type stay struct {
	stop  atomic.Bool
	times atomic.Uint64
	buf   []byte
}

func newStay(t *suites.T) *stay {
	s := &stay{buf: make([]byte, fillSize)}
	t.Go(func() {
		for !s.stop.Load() {
			fill(&s.buf[0], fillSize)
			s.times.Add(1)
			runtime.Gosched() // fill has no stack check, where it could be preempted
		}
	})
	return s
}

// end waits for the goroutine; what it did must be right.
func (s *stay) end(t *suites.T) {
	s.stop.Store(true)
	t.Wait()
	suites.Equal(t, "bytes filled", uint64(bytes.Count(s.buf, []byte{0x5a})), fillSize)
}

// cpusInside stops the machine and returns how many CPUs are inside the region.
func cpusInside(t *suites.T) (n int32) {
	var inside atomic.Int32
	lo := uint64(fillerAddr())
	_, err := smp.StopMachine(func(held []*amd64.Regs) error {
		for _, r := range held {
			if r != nil && r.IP > lo && r.IP < lo+insn.JumpSize {
				inside.Add(1)
			}
		}
		return nil
	})
	t.Must(err)
	return inside.Load()
}

// candidate returns that of filler with its detour, nil if the optimizer was
// faster.
func candidate(t *suites.T) []kprobes.Candidate {
	list := kprobes.Candidates()
	i := slices.IndexFunc(list, func(c kprobes.Candidate) bool { return c.Addr == fillerAddr() })
	if i < 0 || list[i].Detour == nil {
		return nil
	}
	return list[i : i+1]
}

// insideRegion writes a jump while a CPU is inside the region, which it entered while the probe was
// disabled. It leaves out the grace period in which the optimizer lets such a CPU leave.
func insideRegion(t *suites.T) {
	if cpu.Num() == 1 {
		t.Skipf("one CPU")
	}
	k := at(fillerAddr(), pre)
	optimized(t, k)
	const enough = 3
	retries := 0
	for round := 0; round < 200 && retries < enough; round++ {
		t.Must(kprobes.DisableKprobe(k))
		s := newStay(t)
		t.Until("a CPU to be inside", func() bool { return cpusInside(t) == 1 })
		t.Must(kprobes.EnableKprobe(k))
		want := bytes.Clone(text.Bytes(k.Addr, 16))
		list := candidate(t)
		if list == nil {
			s.end(t)
			continue
		}
		done, _, err := kprobes.Jump(list)
		switch {
		case errors.Is(err, kprobes.ErrRetry):
			retries++
			have := text.Bytes(k.Addr, 16)
			byOptimizer := kprobes.Optimized(k.Addr) // since then, on a busy host
			if done != 0 || !byOptimizer && (!bytes.Equal(have, want) || have[0] != int3) {
				t.Errorf("nothing should have changed: %d done, % x, was % x", done, have, want)
			}
		case err == nil && done == 0 && kprobes.Optimized(k.Addr): // the optimizer was faster after all
		case err != nil || done != 1:
			t.Errorf("%d done, %v", done, err)
		}
		t.Until("the jump", func() bool { optimize(t); return kprobes.Optimized(k.Addr) })
		if n := cpusInside(t); n != 0 {
			t.Errorf("%d CPUs are behind the first byte of a jump", n)
		}
		s.end(t)
		if t.Failed() {
			break
		}
	}
	kprobes.UnregisterKprobe(k)
	account(t, k, "filler", k.Hits(), 0)
	t.Logf("%d stops found a CPU inside", retries)
	if retries < enough {
		t.Errorf("too few")
	}
	clean(t)
}

// optimizerWaits lets the optimizer do the same with its grace period: no stop
// finds the CPU inside, because a breakpoint keeps it out from then on.
func optimizerWaits(t *suites.T) {
	k := at(fillerAddr(), pre)
	optimized(t, k)
	for range 4 {
		t.Must(kprobes.DisableKprobe(k))
		s := newStay(t)
		before := s.times.Load()
		t.Until("a call", func() bool { return s.times.Load() > before })
		t.Must(kprobes.EnableKprobe(k))
		optimize(t)
		t.Until("the jump", func() bool { time.Sleep(time.Millisecond); return kprobes.Optimized(k.Addr) })
		s.end(t)
	}
	kprobes.UnregisterKprobe(k)
	account(t, k, "filler", k.Hits(), 0)
	if k.Hits() == 0 {
		t.Errorf("no hits")
	}
	clean(t)
}
