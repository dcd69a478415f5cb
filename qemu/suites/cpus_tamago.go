//go:build tamago

package suites

import (
	"runtime"
	"sync/atomic"
	"time"

	"sonde/kernel/cpu"
	"sonde/kernel/smp"
)

// Together runs f in one goroutine per CPU, none before all of them run at
// once, and returns when all have ended. i counts the goroutines; each must
// find out itself on which CPU it is, and that may change whenever it calls something.
func (t *T) Together(f func(i int)) {
	n := runtime.GOMAXPROCS(0)
	var arrived atomic.Int32
	for i := range n {
		t.Go(func() {
			arrived.Add(1)
			// time.Now is what the runtime can stop this at: a loop without
			// calls would never let it collect garbage.
			for end := time.Now().Add(Limit); arrived.Load() < int32(n); {
				if time.Now().After(end) {
					t.Fatalf("only %d of %d goroutines run at once", arrived.Load(), n)
				}
			}
			f(i)
		})
	}
	t.Wait()
}

// CPUs is how many goroutines Together runs.
func CPUs() int { return runtime.GOMAXPROCS(0) }

// EachCPU calls f on every CPU with interrupts off; f may only do what an
// interrupt may: neither allocate nor store pointers.
func EachCPU(f func(id int)) {
	smp.CallAll(func() { f(cpu.ID()) })
}
