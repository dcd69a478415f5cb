//go:build tamago

package returns

import (
	"errors"
	"runtime"
	"sync/atomic"
	"syscall"
	"weak"

	"sonde/arch/amd64"
	"sonde/kernel/cpu"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/ktest/suites/targets"
)

func init() {
	suites.Add("returns/refused_batch_with_calls_in_flight", refusedBatch)
}

// refusedBatch registers a batch whose last probe is refused. Its first is on a
// function with a breakpoint already, and called meanwhile: those calls return
// through a probe that its owner believes was never registered.
func refusedBatch(t *suites.T) {
	if cpu.Num() == 1 {
		t.Skipf("one CPU: nobody calls while the batch is being registered")
	}
	k := &kprobes.Kprobe{Addr: entry(during), PreHandler: func(*kprobes.Kprobe, *amd64.Regs) int { return 0 }}
	t.Must(kprobes.RegisterKprobe(k))
	defer kprobes.UnregisterKprobe(k)
	held := on(targets.Count, nothing)
	t.Must(kprobes.RegisterKretprobe(held))
	defer kprobes.UnregisterKretprobe(held)
	caught := uint64(0)
	for range 20 {
		rp, n, release := refuseOnce(t, held)
		caught += n
		t.Must(kprobes.DisableKprobe(k)) // no hit goes through the list any more that the probe was in
		t.Must(kprobes.EnableKprobe(k))
		runtime.GC()
		if n > 0 && rp.Value() == nil {
			t.Errorf("the collector has taken the probe of %d calls", n)
		}
		release()
		t.Wait()
	}
	t.Logf("%d calls between", caught)
	if caught == 0 {
		t.Errorf("no call came while a batch was being registered")
	}
}

// refuseOnce returns the probe that was not registered in the end, how many calls of
// it are in flight, and a function that makes them return.
func refuseOnce(t *suites.T, held *kprobes.Kretprobe) (rp weak.Pointer[kprobes.Kretprobe], n uint64, release func()) {
	const most = 500
	batch := []*kprobes.Kretprobe{on(during, nothing)}
	batch[0].MaxActive = most
	for range 50 {
		batch = append(batch, on(targets.Leaf, nothing))
	}
	var stop atomic.Bool
	park, begun := make(chan bool), make(chan bool)
	t.Go(func() {
		for i := 0; i < most && !stop.Load(); i++ {
			t.Go(func() {
				if n, _ := during(41, func() { <-park }); n != 42 {
					t.Errorf("during returns %d", n)
				}
			})
			runtime.Gosched()
			if i == 0 {
				close(begun)
			}
		}
		<-park
	})
	<-begun
	if err := kprobes.RegisterKretprobes(append(batch, held)); !errors.Is(err, syscall.EEXIST) {
		t.Errorf("registered: %v", err)
	}
	stop.Store(true)
	return weak.Make(batch[0]), batch[0].Ledger().InFlight, func() { close(park) }
}
