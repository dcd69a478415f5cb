package poll

import (
	"sync"
	"syscall"
	"time"
)

// sleeper is a waiter that sleeps on a channel.
type sleeper struct {
	Waiter
	woken chan struct{} // capacity 1
}

var sleepers = sync.Pool{New: func() any {
	s := &sleeper{woken: make(chan struct{}, 1)}
	s.Wake = func() { signal(s.woken) }
	return s
}}

// signal leaves a token in c if there is none.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Until waits until src has one of the events, an error or a hang-up. cancel may
// be nil; at most one token is taken from it.
//
// Errors: EINTR when cancel had a token.
func Until(src Source, ev Events, cancel <-chan struct{}) error {
	s := sleepers.Get().(*sleeper)
	s.Mask = ev
	q := src.Queue()
	q.Add(&s.Waiter)
	defer func() {
		q.Remove(&s.Waiter)
		sleepers.Put(s) // a token that it may still have only makes the next one look twice
	}()
	return s.wait(src, ev, cancel)
}

func (s *sleeper) wait(src Source, ev Events, cancel <-chan struct{}) error {
	for src.Poll()&(ev|always) == 0 {
		select {
		case <-s.woken:
		case <-cancel:
			return syscall.EINTR
		}
	}
	return nil
}

// Want is one line of poll(2): what is wanted of a source, and what it got. A nil
// Source never has an event; what its Got says stays.
type Want struct {
	Source Source
	Events Events
	Got    Events
}

// Many waits until at least one of the wants got something, and returns how many
// did. A negative timeout waits for ever, 0 only looks.
//
// Errors: EINTR when cancel had a token and nothing was there.
func Many(wants []Want, timeout time.Duration, cancel <-chan struct{}) (int, error) {
	if n := look(wants); n > 0 || timeout == 0 {
		return n, nil
	}
	woken := make(chan struct{}, 1)
	waiters := make([]Waiter, len(wants))
	for i := range wants {
		if wants[i].Source == nil {
			continue
		}
		w := &waiters[i]
		w.Mask, w.Wake = wants[i].Events, func() { signal(woken) }
		q := wants[i].Source.Queue()
		q.Add(w)
		defer q.Remove(w)
	}
	var late <-chan time.Time
	if timeout > 0 {
		t := time.NewTimer(timeout)
		defer t.Stop()
		late = t.C
	}
	for {
		if n := look(wants); n > 0 {
			return n, nil
		}
		select {
		case <-woken:
		case <-late:
			return look(wants), nil
		case <-cancel:
			return 0, syscall.EINTR
		}
	}
}

// look fills in what each want gets now.
func look(wants []Want) (n int) {
	for i := range wants {
		w := &wants[i]
		if w.Source == nil {
			continue
		}
		if w.Got = w.Source.Poll() & (w.Events | always); w.Got != 0 {
			n++
		}
	}
	return n
}
