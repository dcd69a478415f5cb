package poll

import (
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// box is a source with a state to set.
type box struct {
	state atomic.Uint32
	q     Queue
}

func (b *box) Poll() Events   { return Events(b.state.Load()) }
func (b *box) Queue() *Queue  { return &b.q }
func (b *box) set(ev Events)  { b.state.Store(uint32(ev)); b.q.Notify(ev) }
func (b *box) waiters() int32 { return b.q.n.Load() }

// joined waits until n wait at b.
func (b *box) joined(n int32) {
	for b.waiters() != n {
		time.Sleep(time.Millisecond)
	}
}

func TestUntilReturnsWhenTheEventIsThere(t *testing.T) {
	b := new(box)
	b.set(Out)
	done := make(chan error)
	go func() { done <- Until(b, In, nil) }()
	b.joined(1)
	b.set(Out)
	select {
	case <-done:
		t.Fatal("woken by an event that it did not wait for")
	case <-time.After(20 * time.Millisecond):
	}
	b.set(In)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if b.waiters() != 0 {
		t.Error("it stayed in the queue")
	}
}

func TestHangUpsAndErrorsWakeEverybody(t *testing.T) {
	for _, ev := range []Events{Hup, Err} {
		b := new(box)
		done := make(chan error)
		go func() { done <- Until(b, In, nil) }()
		b.joined(1)
		b.set(ev)
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func TestCancelTakesOneToken(t *testing.T) {
	b, cancel := new(box), make(chan struct{}, 1)
	done := make(chan error)
	go func() { done <- Until(b, In, cancel) }()
	b.joined(1)
	cancel <- struct{}{}
	if err := <-done; err != syscall.EINTR {
		t.Errorf("got %v, want EINTR", err)
	}
	if len(cancel) != 0 || b.waiters() != 0 {
		t.Errorf("left %d tokens and %d waiters", len(cancel), b.waiters())
	}
	b.set(In)
	cancel <- struct{}{}
	if err := Until(b, In, cancel); err != nil || len(cancel) != 1 {
		t.Errorf("what is there already is not cancelled: %v, %d tokens left", err, len(cancel))
	}
}

func TestManyTellsWhoGotWhat(t *testing.T) {
	a, b := new(box), new(box)
	wants := []Want{{Source: a, Events: In}, {Source: b, Events: Out}, {}}
	if n, err := Many(wants, 0, nil); n != 0 || err != nil {
		t.Errorf("nothing is there: %d, %v", n, err)
	}
	if n, err := Many(wants, time.Millisecond, nil); n != 0 || err != nil {
		t.Errorf("nothing came: %d, %v", n, err)
	}
	go func() { b.joined(1); b.set(In | Out | Hup) }()
	n, err := Many(wants, -1, nil)
	if n != 1 || err != nil || wants[0].Got != 0 || wants[1].Got != Out|Hup {
		t.Errorf("got %d, %v, %+v", n, err, wants)
	}
	if a.waiters() != 0 || b.waiters() != 0 {
		t.Error("they stayed in the queues")
	}
	cancel := make(chan struct{}, 1)
	cancel <- struct{}{}
	b.set(0)
	if n, err := Many(wants, -1, cancel); n != 0 || err != syscall.EINTR {
		t.Errorf("cancelled: %d, %v", n, err)
	}
}

func TestNoWakeUpIsLost(t *testing.T) {
	b := new(box)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 500 {
				Until(b, In, nil)
			}
		})
	}
	stop := make(chan struct{})
	go func() {
		for {
			select {
			case <-stop:
				return
			default:
				b.set(In)
				b.set(0)
			}
		}
	}()
	wg.Wait()
	close(stop)
}

// TestTimeoutLooksOnceMore: what has come by the end of the time is told, though nobody was woken.
func TestTimeoutLooksOnceMore(t *testing.T) {
	b := new(box)
	wants := []Want{{Source: b, Events: In}}
	go func() {
		b.joined(1)
		b.state.Store(uint32(In))
	}()
	if n, err := Many(wants, 200*time.Millisecond, nil); n != 1 || err != nil || wants[0].Got != In {
		t.Errorf("%d, %v, %+v", n, err, wants)
	}
}
