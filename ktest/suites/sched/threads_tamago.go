//go:build tamago

package sched

import (
	"runtime"
	"sync/atomic"
	"syscall"
	"time"

	"sonde/kernel/irq"
	"sonde/ktest/suites"
)

func init() {
	suites.Add("sched/two_thousand_threads_at_once", twoThousandThreads)
	suites.Add("sched/hundreds_block_their_threads", hundredsBlock)
}

// locked runs n goroutines, each on a thread of its own, which ends with it: the
// goroutine does not unlock.
func locked(t *suites.T, n int, f func(i int)) {
	for i := range n {
		t.Go(func() {
			runtime.LockOSThread()
			f(i)
		})
	}
	t.Wait()
}

// twoThousandThreads used to end the kernel: the shim had 256. All exist at once,
// pass a number round, and are used again by the second round.
func twoThousandThreads(t *suites.T) {
	const n = 2000
	var most [2]int
	for round := range most {
		ids := make([]int, n)
		chain := make([]chan int, n+1)
		for i := range chain {
			chain[i] = make(chan int, 1)
		}
		var up atomic.Int32
		go func() {
			for up.Load() < n {
				time.Sleep(time.Millisecond)
			}
			chain[0] <- 0
		}()
		locked(t, n, func(i int) {
			ids[i] = syscall.Gettid()
			up.Add(1)
			chain[i+1] <- 1 + <-chain[i]
			if id := syscall.Gettid(); id != ids[i] {
				t.Errorf("goroutine %d was on thread %d, now on %d", i, ids[i], id)
			}
		})
		if v := <-chain[n]; v != n {
			t.Errorf("round %d: %d came out, want %d", round, v, n)
		}
		seen := map[int]bool{}
		for _, id := range ids {
			seen[id] = true
			most[round] = max(most[round], id)
		}
		if len(seen) != n {
			t.Errorf("round %d: %d goroutines on %d threads", round, n, len(seen))
		}
	}
	t.Logf("highest thread number %d, then %d", most[0], most[1])
	if most[1] > most[0]+n/2 {
		t.Errorf("threads that ended are not used again: numbers up to %d, then %d", most[0], most[1])
	}
}

// hundredsBlock makes goroutines keep their threads while they wait, some with a timeout: each wakes
// for its own reason, and by its own event.
func hundredsBlock(t *suites.T) {
	const n = 600
	events := make([]irq.Event, n)
	var woken, over [n]atomic.Bool
	t.Go(func() {
		t.Until("the waits with a limit to end", func() bool {
			for i := 0; i < n; i += 3 {
				if !over[i].Load() {
					return false
				}
			}
			return true
		})
		for i := n - 1; i >= 0; i-- {
			if i%3 != 0 {
				woken[i].Store(true)
				events[i].Wake()
			}
		}
	})
	locked(t, n, func(i int) {
		limit := int64(-1)
		if i%3 == 0 {
			limit = int64(i%50+1) * 1e6
		}
		got := events[i].Wait(limit)
		if got != woken[i].Load() || got == (limit >= 0) {
			t.Errorf("wait %d (limit %d ns) says %v", i, limit, got)
		}
		over[i].Store(true)
	})
}
