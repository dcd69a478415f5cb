//go:build tamago

// Package contend is a module that waits for mutexes, and knows how long. TestMutexesAreNamed builds it.
package contend

import (
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"sonde/kernel/goruntime"
	"sonde/kernel/kthread"
	"sonde/kernel/module"
	"sonde/kernel/printk"
)

func init() {
	module.Register(&module.Module{Name: "contend", Doc: "wait for mutexes", Init: contend, Exit: func() {}})
}

// rounds is how often each mutex is waited for, and held is how long it is held from when somebody waits.
const (
	rounds = 3
	held   = 10 * time.Millisecond
)

type small struct {
	a, b  *int
	inner struct{ n, m int64 }
	mu    sync.Mutex
}

type large struct {
	list [200]*int
	rw   sync.RWMutex
}

type other struct { // as small is, but those who wait do not take it
	a, b, c *int
	n       int64
	lock    sync.Mutex
}

var static struct {
	n  int
	mu sync.Mutex
}

var alone sync.Mutex

var kept = &other{}

//go:noinline
func (o *other) touch() { o.lock.Lock(); o.lock.Unlock() }

//go:noinline
func (s *small) wait() { s.mu.Lock(); s.mu.Unlock() }

//go:noinline
func (l *large) wait() { l.rw.Lock(); l.rw.Unlock() }

//go:noinline
func waitStatic() { static.mu.Lock(); static.mu.Unlock() }

//go:noinline
func waitAlone() { alone.Lock(); alone.Unlock() }

func contend() error {
	kept.touch()
	s, l := new(small), new(large)
	known("small", &s.mu, &s.mu, s.wait)
	known("large", &l.rw, (*sync.Mutex)(unsafe.Pointer(&l.rw)), l.wait) // it begins with one
	known("static", &static.mu, &static.mu, waitStatic)
	known("alone", &alone, &alone, waitAlone)
	return nil
}

// known has one thread hold a mutex while another waits, and says which they were, and how long it took.
func known(name string, l sync.Locker, mu *sync.Mutex, wait func()) {
	var holder, waiter, us uint64
	for range rounds {
		locked := make(chan bool)
		h := kthread.Run("holder", func() {
			holder = goruntime.Goid(goruntime.Self())
			l.Lock()
			close(locked)
			for atomic.LoadInt32((*int32)(unsafe.Pointer(mu)))>>3 == 0 { // no thread waits
				time.Sleep(time.Millisecond)
			}
			time.Sleep(held)
			l.Unlock()
		})
		w := kthread.Run("waiter", func() {
			waiter = goruntime.Goid(goruntime.Self())
			<-locked
			begin := time.Now()
			wait()
			us += uint64(time.Since(begin) / time.Microsecond)
		})
		<-h.Done()
		<-w.Done()
		printk.Info("contend: %s waiter %d holder %d us %d", name, waiter, holder, us)
		us = 0
	}
}
