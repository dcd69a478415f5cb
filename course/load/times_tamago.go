//go:build tamago

package load

import (
	"fmt"
	"math/bits"
	"sync/atomic"
	"syscall"
	"time"

	"sonde/kernel/cpu"
	"sonde/kernel/refusal"
)

// buckets count durations by powers of two: n[k] those of at least 2^k ns and less than 2^(k+1).
type buckets [64]atomic.Int64

func (b *buckets) add(ns int64) { b[bits.Len64(uint64(max(ns, 1)))-1].Add(1) }

func (b *buckets) report(which string) {
	total := int64(0)
	defer func() { report(which, "%d", total) }()
	for k := range b {
		n := b[k].Load()
		if total += n; n > 0 {
			report(fmt.Sprintf("%s.%d", which, k), "%d", n)
		}
		b[k].Store(0)
	}
}

// inside has the durations as the functions themselves see them, outside as their callers do. What
// a probe measures is in between, for each call.
var inside, outside buckets

// A trip is one call of a function that takes time.
type trip struct {
	depth  int // further calls that it makes of itself
	ns     int64
	sleep  bool // it sleeps, so that it may continue on another CPU
	panics bool // the innermost call panics
}

// Van takes time.
//
//go:noinline
func Van(t trip) {
	begun := cpu.Nanotime()
	t.rest()
	if t.depth > 0 {
		t.next(Van)
	}
	inside.add(cpu.Nanotime() - begun)
}

// Train is Van with another entry.
//
//go:noinline
func Train(t trip) {
	var room [400]int
	begun := cpu.Nanotime()
	room[t.depth%len(room)] = Label(t.depth)
	t.rest()
	if t.depth > 0 {
		t.next(Train)
	}
	inside.add(cpu.Nanotime() - begun + int64(room[(t.depth+1)%len(room)]))
}

// next makes the next call, one level deeper.
func (t trip) next(f func(trip)) {
	t.depth--
	t.timed(f)
}

// timed calls f and notes how long that takes.
func (t trip) timed(f func(trip)) {
	begun := cpu.Nanotime()
	f(t)
	outside.add(cpu.Nanotime() - begun)
}

func (t trip) rest() {
	if t.panics && t.depth == 0 {
		panic("the letter is lost")
	}
	if t.sleep {
		time.Sleep(time.Duration(t.ns))
		return
	}
	for end := cpu.Nanotime() + t.ns; cpu.Nanotime() < end; {
		cpu.Pause()
	}
}

var trips = map[string]func(trip){"Van": Van, "Train": Train}

// times calls a function that takes time: NAME,CALLS,DEPTH,NS,GOROUTINES. Each call makes DEPTH-1
// more of itself, one inside another. With several goroutines calls sleep.
func times(args []string) error {
	f := trips[args[0]]
	n, err := numbers(args[1:]...)
	switch {
	case err != nil:
		return err
	case f == nil:
		return errNotThere(args[0])
	}
	t := trip{depth: n[1] - 1, ns: int64(n[2]), sleep: n[3] > 1}
	together(n[3], func(g int) {
		for i := g; i < n[0]; i += n[3] {
			t.timed(f)
		}
	})
	inside.report("inside")
	outside.report("outside")
	return nil
}

// panics calls a function that panics, and recovers: NAME,CALLS,DEPTH. The panic ends DEPTH calls.
func panics(args []string) error {
	f := trips[args[0]]
	n, err := numbers(args[1:]...)
	switch {
	case err != nil:
		return err
	case f == nil:
		return errNotThere(args[0])
	}
	for range n[0] {
		func() {
			defer func() { recover() }()
			f(trip{depth: n[1] - 1, ns: 1000, panics: true})
		}()
	}
	report("lost", "%d", n[0]*n[1])
	return nil
}

// errNotThere is returned for a function that a workload does not know.
func errNotThere(name string) error {
	return refusal.New(syscall.EINVAL, "%q is no function that takes time", name)
}
