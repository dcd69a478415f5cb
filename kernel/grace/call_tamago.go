//go:build tamago

package grace

import "sync"

// Calls that wait for a grace period. A goroutine makes them as long as there are
// any; calls that come while it waits for one period share the next.
var calls struct {
	mu sync.Mutex
	// guarded by mu:
	waiting []func()
	running bool // makeCalls does
}

// Call makes a goroutine call f after a grace period: to free what a CPU may still
// be using. The fs are called one at a time, in the order of the
// Calls; one that blocks holds up the others.
//
// Context: goroutine; f may call it.
// Source: Linux call_rcu_sched.
func Call(f func()) {
	calls.mu.Lock()
	defer calls.mu.Unlock()
	calls.waiting = append(calls.waiting, f)
	if !calls.running {
		calls.running = true
		go makeCalls()
	}
}

// Barrier returns when the fs of all Calls made before it have returned.
//
// Context: goroutine, not an f.
func Barrier() {
	done := make(chan struct{})
	Call(func() { close(done) })
	<-done
}

func makeCalls() {
	for {
		fs := take()
		if fs == nil {
			return
		}
		Synchronize()
		for _, f := range fs {
			f()
		}
	}
}

// take returns the calls that wait; makeCalls ends when there are none.
func take() []func() {
	calls.mu.Lock()
	defer calls.mu.Unlock()
	fs := calls.waiting
	calls.waiting = nil
	calls.running = fs != nil
	return fs
}
