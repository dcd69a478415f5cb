package event

import (
	"encoding/binary"
	"errors"
	"sync"
	"syscall"
	"testing"
	"time"

	"sonde/kernel/poll"
	"sonde/kernel/vfs"
	"sonde/kernel/vfs/pipe"
)

func number(n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, n) }

func read(f *vfs.File) (uint64, error) {
	b := make([]byte, 8)
	_, err := vfs.Read(f, b, nil)
	return binary.LittleEndian.Uint64(b), err
}

func TestEventfdCounts(t *testing.T) {
	f := NewEventfd(3, false, 0)
	f.Write(number(4))
	if n, err := read(f); n != 7 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if _, err := read(f); err != syscall.EAGAIN || f.Poll() != poll.Out {
		t.Errorf("empty: %v, %#x", err, f.Poll())
	}
	s := NewEventfd(2, true, 0)
	for _, want := range []error{nil, nil, syscall.EAGAIN} {
		if n, err := read(s); err != want || err == nil && n != 1 {
			t.Errorf("semaphore: %d, %v", n, err)
		}
	}
	f.Write(number(maxValue))
	if _, err := vfs.Write(f, number(1), nil); err != syscall.EAGAIN || f.Poll() != poll.In {
		t.Errorf("full: %v, %#x", err, f.Poll())
	}
	read(f)
	f.Write(number(10))
	waits := make(chan error)
	go func() { _, err := f.Write(number(maxValue - 5)); waits <- err }()
	for f.Poll() != poll.In { // until it has found no space
		time.Sleep(time.Millisecond)
	}
	if n, err := read(f); n != 10 || err != nil || <-waits != nil {
		t.Errorf("%d, %v", n, err)
	}
	if f.Poll() != poll.In|poll.Out {
		t.Errorf("1 fits, but it polls as %#x", f.Poll())
	}
	for _, p := range [][]byte{number(maxValue + 1), make([]byte, 7)} {
		if _, err := vfs.Write(f, p, nil); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("%v: %v", p, err)
		}
	}
	if _, err := vfs.Read(f, make([]byte, 7), nil); !errors.Is(err, syscall.EINVAL) {
		t.Error(err)
	}
}

// newEpoll returns a set with the reading end of a pipe in it, as descriptor 5.
func newEpoll(t *testing.T, events uint32) (e *Epoll, r, w *vfs.File) {
	t.Helper()
	e = NewEpoll().Handle().(*Epoll)
	r, w = pipe.New(0)
	if err := e.Add(5, r, events, 77); err != nil {
		t.Fatal(err)
	}
	return e, r, w
}

// events are those that Wait returns now.
func events(t *testing.T, e *Epoll) []Event {
	t.Helper()
	dst := make([]Event, 4)
	n, err := e.Wait(dst, 0, nil)
	if err != nil {
		t.Error(err)
	}
	if (n > 0) != (e.Poll() != 0) && n == 0 {
		t.Error("poll and Wait disagree")
	}
	return dst[:n]
}

func TestLevelsStayAndEdgesPass(t *testing.T) {
	for _, tt := range []struct {
		flag  uint32
		again int // events on a second look
		more  int // after another write
	}{{0, 1, 1}, {EdgeTrigger, 0, 1}, {OneShot, 0, 0}} {
		e, r, w := newEpoll(t, uint32(poll.In)|tt.flag)
		if got := events(t, e); len(got) != 0 {
			t.Errorf("%#x: empty: %v", tt.flag, got)
		}
		w.Write([]byte("x"))
		if got := events(t, e); len(got) != 1 || got[0] != (Event{uint32(poll.In), 77}) {
			t.Errorf("%#x: %v", tt.flag, got)
		}
		if got := events(t, e); len(got) != tt.again {
			t.Errorf("%#x: again %v", tt.flag, got)
		}
		w.Write([]byte("y"))
		if got := events(t, e); len(got) != tt.more {
			t.Errorf("%#x: more %v", tt.flag, got)
		}
		if err := e.Modify(5, r, uint32(poll.In)|tt.flag, 78); err != nil {
			t.Error(err)
		}
		if got := events(t, e); len(got) != 1 || got[0].Data != 78 {
			t.Errorf("%#x: modified %v", tt.flag, got)
		}
		r.Read(make([]byte, 10))
		if got := events(t, e); len(got) != 0 {
			t.Errorf("%#x: read, but %v", tt.flag, got)
		}
	}
}

func TestHangUpIsToldUnasked(t *testing.T) {
	e, _, w := newEpoll(t, 0)
	w.Close()
	if got := events(t, e); len(got) != 1 || got[0].Events != uint32(poll.Hup) {
		t.Error(got)
	}
}

func TestSetRefuses(t *testing.T) {
	e, r, w := newEpoll(t, 0)
	tree := vfs.New()
	plain, err := tree.OpenFile("/x", vfs.O_CREAT|vfs.O_RDWR)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		what string
		err  error
		want error
	}{
		{"twice", e.Add(5, r, 0, 0), syscall.EEXIST},
		{"a file", e.Add(6, plain, 0, 0), syscall.EPERM},
		{"modify another", e.Modify(5, w, 0, 0), syscall.ENOENT},
		{"delete another", e.Delete(6, r), syscall.ENOENT},
		{"exclusive later", e.Modify(5, r, Exclusive, 0), syscall.EINVAL},
	} {
		if tt.err != tt.want {
			t.Errorf("%s: %v, want %v", tt.what, tt.err, tt.want)
		}
	}
	if _, err := e.Wait(nil, 0, nil); err != syscall.EINVAL {
		t.Error(err)
	}
}

func TestClosedFilesLeaveTheSet(t *testing.T) {
	e, r, w := newEpoll(t, uint32(poll.In))
	w.Write([]byte("x"))
	r.Close()
	if got := events(t, e); len(got) != 0 || len(e.items) != 0 {
		t.Errorf("%v, %d items", got, len(e.items))
	}
	e, r, w = newEpoll(t, uint32(poll.In))
	if err := e.Delete(5, r); err != nil {
		t.Error(err)
	}
	w.Write([]byte("x"))
	if got := events(t, e); len(got) != 0 {
		t.Error(got)
	}
	e, _, w = newEpoll(t, uint32(poll.In))
	e.Close()
	w.Write([]byte("x"))
	if len(e.ready) != 0 || len(e.items) != 0 {
		t.Error("a closed set hears of its files")
	}
}

func TestWaitEnds(t *testing.T) {
	e, _, w := newEpoll(t, uint32(poll.In))
	dst := make([]Event, 1)
	if n, err := e.Wait(dst, 5*time.Millisecond, nil); n != 0 || err != nil {
		t.Errorf("timeout: %d, %v", n, err)
	}
	cancel := make(chan struct{}, 1)
	cancel <- struct{}{}
	if _, err := e.Wait(dst, -1, cancel); err != syscall.EINTR {
		t.Errorf("cancel: %v", err)
	}
	go w.Write([]byte("x"))
	if n, err := e.Wait(dst, -1, nil); n != 1 || err != nil {
		t.Errorf("write: %d, %v", n, err)
	}
}

func TestAllReadyFilesGetTheirTurn(t *testing.T) {
	e := NewEpoll().Handle().(*Epoll)
	for i := range 10 {
		e.Add(i, NewEventfd(1, false, 0), uint32(poll.In), uint64(i))
	}
	seen := map[uint64]int{}
	dst := make([]Event, 3)
	for range 10 {
		n, _ := e.Wait(dst, 0, nil)
		for _, ev := range dst[:n] {
			seen[ev.Data]++
		}
	}
	for i := range uint64(10) {
		if seen[i] != 3 {
			t.Errorf("%d was seen %d times", i, seen[i])
		}
	}
}

func TestManyThreadsUseOneSet(t *testing.T) {
	e := NewEpoll().Handle().(*Epoll)
	const each = 300
	total := make(chan uint64, 4)
	done := NewEventfd(0, false, 0)
	var files []*vfs.File
	for i := range 4 {
		f := NewEventfd(0, false, 0)
		files = append(files, f)
		e.Add(i, f, uint32(poll.In), uint64(i))
	}
	e.Add(9, done, uint32(poll.In), 9)
	for range 2 {
		go func() {
			var sum uint64
			dst := make([]Event, 2)
			for {
				n, err := e.Wait(dst, -1, nil)
				if err != nil {
					t.Error(err)
				}
				for _, ev := range dst[:n] {
					if ev.Data == 9 {
						total <- sum
						return
					}
					n, _ := read(files[ev.Data])
					sum += n
				}
			}
		}()
	}
	var wg sync.WaitGroup
	for _, f := range files {
		wg.Go(func() {
			for i := range each {
				f.Write(number(1))
				if i%10 == 0 {
					x := NewEventfd(1, false, 0)
					e.Add(100, x, uint32(poll.In|poll.Out)|OneShot, 3)
					e.Delete(100, x)
				}
			}
		})
	}
	wg.Wait()
	for _, f := range files {
		for f.Poll()&poll.In != 0 {
			time.Sleep(time.Millisecond)
		}
	}
	done.Write(number(1))
	if sum := <-total + <-total; sum != 4*each {
		t.Errorf("%d of %d arrived", sum, 4*each)
	}
}
