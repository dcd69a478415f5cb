//go:build tamago

package sched

import (
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"

	"sonde/ktest/suites"
	"sonde/ktest/suites/targets"
)

func init() {
	suites.Add("sched/ten_thousand_goroutines_in_a_ring", ringOfGoroutines)
	suites.Add("sched/collecting_keeps_what_is_live", collectingKeeps)
	suites.Add("sched/stacks_grow_and_shrink", stacksGrowAndShrink)
	suites.Add("sched/panics_and_exits", panicsAndExits)
	suites.Add("sched/many_threads", manyThreads)
}

// ringOfGoroutines passes a number round a ring of goroutines, each adding one.
func ringOfGoroutines(t *suites.T) {
	const n, rounds = 10_000, 2
	first := make(chan int)
	last := first
	for range n {
		next := make(chan int)
		go func(in, out chan int) {
			for v := range in {
				out <- v + 1
			}
			close(out)
		}(last, next)
		last = next
	}
	for r := range rounds {
		first <- r
		if v := <-last; v != r+n {
			t.Errorf("round %d: %d came out, want %d", r, v, r+n)
		}
	}
	close(first)
	<-last
}

// tree is what collectingKeeps allocates: each node's sum is known.
type tree struct {
	left, right *tree
	value       uint64
	pad         []byte
}

func grow(depth int, value uint64) *tree {
	n := &tree{value: value, pad: make([]byte, depth*8+1)}
	n.pad[depth] = byte(value)
	if depth > 0 {
		n.left, n.right = grow(depth-1, 2*value), grow(depth-1, 2*value+1)
	}
	return n
}

func (n *tree) sum() uint64 {
	if n == nil {
		return 0
	}
	s := n.left.sum() + n.right.sum() + n.value
	for _, b := range n.pad {
		s += uint64(b) - uint64(byte(n.value))
	}
	return s + uint64(len(n.pad)-1)*uint64(byte(n.value))
}

// collectingKeeps makes 20 goroutines build and check structures while every
// percent of growth starts a collection.
func collectingKeeps(t *suites.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	const depth = 7
	want := grow(depth, 1).sum()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	before := m.NumGC
	end := time.Now().Add(suites.Storm(1))
	var enough atomic.Bool // collections
	var trees atomic.Int32
	for range 20 {
		t.Go(func() {
			old := grow(depth, 1)
			for time.Now().Before(end) || !enough.Load() {
				n := grow(depth, 1)
				if got := n.sum(); got != want {
					t.Fatalf("a new tree has sum %d, want %d", got, want)
				}
				if got := old.sum(); got != want {
					t.Fatalf("an old tree has sum %d, want %d", got, want)
				}
				old = n
				trees.Add(1)
			}
		})
	}
	defer enough.Store(true)
	t.Until("three collections", func() bool {
		time.Sleep(10 * time.Millisecond)
		runtime.ReadMemStats(&m)
		return m.NumGC-before >= 3
	})
	enough.Store(true)
	t.Wait()
	runtime.ReadMemStats(&m)
	t.Logf("%d trees, %d collections", trees.Load(), m.NumGC-before)
}

// stacksGrowAndShrink recurses deep again and again; collections in between
// take back what is not used.
func stacksGrowAndShrink(t *suites.T) {
	for range 8 {
		t.Go(func() {
			for round := range 6 {
				for _, n := range []uint64{10, 1000, 100} {
					if got := targets.Grow(n); got != n*(n+1)/2 {
						t.Fatalf("round %d: %d deep gives %d", round, n, got)
					}
					runtime.Gosched()
				}
			}
		})
	}
	for range 5 {
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	t.Wait()
	runtime.GC() // twice: a stack is halved per collection
	runtime.GC()
}

func panicsAndExits(t *suites.T) {
	var deferred atomic.Int32
	for i := range 500 {
		t.Go(func() {
			defer deferred.Add(1)
			defer func() {
				if e := recover(); i%2 == 0 && e != i {
					t.Errorf("recovered %v, want %d", e, i)
				}
			}()
			if i%2 == 0 {
				panic(i)
			}
			runtime.Goexit()
		})
	}
	t.Wait()
	if deferred.Load() != 500 {
		t.Errorf("%d of 500 deferred calls ran", deferred.Load())
	}
}

// manyThreads locks more goroutines to threads than there are CPUs and makes them
// all wait and run.
func manyThreads(t *suites.T) {
	const n = 40
	var sum atomic.Int32
	gate := make(chan int)
	for i := range n {
		t.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			v := <-gate
			time.Sleep(time.Millisecond)
			sum.Add(int32(v + i))
		})
	}
	for i := range n {
		gate <- i
	}
	t.Wait()
	if want := int32(n * (n - 1)); sum.Load() != want {
		t.Errorf("sum %d, want %d", sum.Load(), want)
	}
}
