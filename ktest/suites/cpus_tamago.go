//go:build tamago

package suites

import (
	"runtime"
	"sync/atomic"
	"time"

	"sonde/kernel/cpu"
	"sonde/kernel/smp"
)

// Together runs f in one goroutine per CPU and returns when all have ended. No f begins before all
// these goroutines run at once. i numbers them; each must find out itself on which CPU it is, which
// may change with every call that it makes.
func (t *T) Together(f func(i int)) {
	n := runtime.GOMAXPROCS(0)
	var arrived atomic.Int32
	for i := range n {
		t.Go(func() {
			arrived.Add(1)
			// time.Now is where the runtime can stop this loop: one without calls would keep it from
			// collecting garbage.
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
