package futex

import (
	"errors"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"sonde/internal/quick"
)

const long = quick.Hang // a wait that ends this way has failed

func sleepers(t *testing.T, f *Table[int], want int) {
	t.Helper()
	for end := time.Now().Add(long); f.Waiting() != want; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d wait, want %d", f.Waiting(), want)
		}
	}
}

func always() error { return nil }

// start lets n wait for key and returns where their results come.
func start(t *testing.T, f *Table[int], key, n int, bitset uint32, cancel chan struct{}) chan error {
	t.Helper()
	before := f.Waiting()
	results := make(chan error, n)
	for range n {
		go func() { results <- f.Wait(key, bitset, always, time.Now().Add(long), cancel) }()
	}
	sleepers(t, f, before+n)
	return results
}

func TestWakeWakesThatMany(t *testing.T) {
	f := New[int]()
	results := start(t, f, 1, 3, ^uint32(0), nil)
	other := start(t, f, 2, 1, ^uint32(0), nil)
	if n := f.Wake(1, 2, ^uint32(0)); n != 2 {
		t.Errorf("woke %d", n)
	}
	sleepers(t, f, 2)
	if n := f.Wake(1, 5, ^uint32(0)); n != 1 {
		t.Errorf("woke %d", n)
	}
	for range 3 {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	select {
	case err := <-other:
		t.Errorf("a waiter for another word woke: %v", err)
	default:
	}
	f.Wake(2, 1, ^uint32(0))
	<-other
}

func TestBitset(t *testing.T) {
	f := New[int]()
	low := start(t, f, 1, 1, 1, nil)
	high := start(t, f, 1, 1, 2, nil)
	if n := f.Wake(1, 10, 2); n != 1 {
		t.Errorf("woke %d", n)
	}
	if err := <-high; err != nil {
		t.Error(err)
	}
	f.Wake(1, 10, 1)
	<-low
}

func TestWaitLooksFirst(t *testing.T) {
	err := New[int]().Wait(1, 1, func() error { return syscall.EAGAIN }, time.Time{}, nil)
	if !errors.Is(err, syscall.EAGAIN) {
		t.Error(err)
	}
}

func TestWaitEnds(t *testing.T) {
	f := New[int]()
	if err := f.Wait(1, 1, always, time.Now().Add(time.Millisecond), nil); err != syscall.ETIMEDOUT {
		t.Errorf("late: %v", err)
	}
	cancel := make(chan struct{}, 1)
	r := start(t, f, 1, 1, 1, cancel)
	cancel <- struct{}{}
	if err := <-r; err != syscall.EINTR {
		t.Errorf("cancelled: %v", err)
	}
	if n := f.Waiting(); n != 0 {
		t.Errorf("%d are left in the queue", n)
	}
}

// TestRequeueMovesThoseNotWoken also cancels one that was moved: it must leave
// the queue that it is in now.
func TestRequeueMovesThoseNotWoken(t *testing.T) {
	f := New[int]()
	cancel := make(chan struct{}, 1)
	results := start(t, f, 1, 4, ^uint32(0), cancel)
	woken, moved, err := f.Requeue(1, 2, 1, 2, always)
	if woken != 1 || moved != 2 || err != nil {
		t.Fatalf("woke %d, moved %d, %v", woken, moved, err)
	}
	if n := f.Wake(2, 1, ^uint32(0)); n != 1 {
		t.Errorf("woke %d of the moved", n)
	}
	<-results
	<-results
	if n := f.Wake(1, 9, ^uint32(0)); n != 1 {
		t.Errorf("%d stayed", n)
	}
	<-results
	cancel <- struct{}{}
	if err := <-results; err != syscall.EINTR {
		t.Errorf("the last: %v", err)
	}
	sleepers(t, f, 0)
	if _, _, err := f.Requeue(1, 2, 1, 1, func() error { return syscall.EAGAIN }); err != syscall.EAGAIN {
		t.Error(err)
	}
}

// TestNoWakeIsLost is a lock in one word, made of Wait and Wake as C libraries
// do; a lost wake hangs it.
func TestNoWakeIsLost(t *testing.T) {
	f := New[int]()
	var word atomic.Int32 // 0 free, 1 taken, 2 taken and waited for
	lock := func() {
		if word.CompareAndSwap(0, 1) {
			return
		}
		for word.Swap(2) != 0 {
			err := f.Wait(7, 1, func() error {
				if word.Load() != 2 {
					return syscall.EAGAIN
				}
				return nil
			}, time.Now().Add(long), nil)
			if err == syscall.ETIMEDOUT {
				t.Error("a wake was lost")
			}
		}
	}
	unlock := func() {
		if word.Swap(0) == 2 {
			f.Wake(7, 1, 1)
		}
	}
	var wg sync.WaitGroup
	total := 0
	for range 8 {
		wg.Go(func() {
			for range 2000 {
				lock()
				total++
				unlock()
			}
		})
	}
	wg.Wait()
	if total != 16000 {
		t.Errorf("total %d", total)
	}
}

func TestBoth(t *testing.T) {
	f := New[int]()
	a := start(t, f, 1, 2, 1, nil)
	b := start(t, f, 2, 2, 1, nil)
	if n, err := f.Both(1, 2, 1, 2, func() (bool, error) { return false, nil }); n != 1 || err != nil {
		t.Errorf("woke %d, %v", n, err)
	}
	if n, err := f.Both(1, 2, 1, 2, func() (bool, error) { return true, nil }); n != 3 || err != nil {
		t.Errorf("woke %d, %v", n, err)
	}
	for range 2 {
		<-a
		<-b
	}
}
