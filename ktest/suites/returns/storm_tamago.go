//go:build tamago

package returns

import (
	"runtime"
	"runtime/debug"
	"sync/atomic"

	"sonde/ktest/suites"
	"sonde/ktest/suites/targets"
)

func init() {
	suites.Add("returns/storm", func(t *suites.T) { storm(t, 300_000) })
	suites.Add("returns/ten_million", func(t *suites.T) {
		t.NeedsLong()
		storm(t, 10_000_000)
	})
}

//go:noinline
func probed(n uint64, how func(uint64)) uint64 {
	how(n)
	return targets.CountWant(n)
}

// inCall is what may happen during a call.
var inCall = []func(n uint64){
	func(uint64) {},
	func(uint64) { runtime.Gosched() },
	func(n uint64) { targets.Grow(n % 200) },
	func(n uint64) { kept.Store(&[]byte{byte(n)}) },
	func(uint64) { panic("storm") },
	func(n uint64) { probed(n, func(uint64) {}) },
}

// oneCall makes one call; it reports whether it returned.
func oneCall(t *suites.T, i uint64) (returned bool) {
	defer func() {
		if e := recover(); e != nil && e != "storm" {
			t.Errorf("%v", e)
		}
	}()
	// Panics and growth are expensive: they must be rare, or it takes minutes.
	how := inCall[0]
	if i%16 == 0 {
		how = inCall[i/16%uint64(len(inCall))]
	}
	if probed(i, how) != targets.CountWant(i) {
		t.Errorf("probed(%d) is wrong", i)
	}
	return true
}

// storm makes at least n probed calls in several goroutines. Each goroutine lasts for a while only,
// so that stacks are small again and again; garbage is collected all the time.
func storm(t *suites.T, n uint64) {
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	rp := on(probed, nothing)
	rp.MaxActive = 6 // a few are missed
	remove := register(t, rp)
	var calls, lost atomic.Uint64
	for range 6 {
		t.Go(func() {
			for calls.Load() < n && !t.Failed() {
				done := make(chan bool)
				t.Go(func() {
					defer close(done)
					for range 2000 {
						if !oneCall(t, calls.Add(1)) {
							lost.Add(1)
						}
					}
				})
				<-done
			}
		})
	}
	t.Wait()
	remove()
	l := rp.Ledger()
	t.Logf("%+v", l)
	if l.Entered < n || l.Handled == 0 {
		t.Errorf("only %d entered, %d handled", l.Entered, l.Handled)
	}
	if l.Abandoned == 0 || l.Abandoned > lost.Load() {
		t.Errorf("%d abandoned, but %d calls panicked", l.Abandoned, lost.Load())
	}
	suites.Equal(t, "InFlight", l.InFlight, 0)
	suites.Equal(t, "entered less all else", l.Entered-l.Handled-l.Declined-l.Missed(), 0)
}
