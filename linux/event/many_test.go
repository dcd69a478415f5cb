package event

import (
	"strconv"
	"syscall"
	"testing"

	"sonde/kernel/abi"
	"sonde/kernel/vfs"
)

func TestItemsAreBounded(t *testing.T) {
	e := NewEpoll().Handle().(*Epoll)
	before := itemCount.Load()
	f := NewEventfd(0, false, 0)
	n, err := 0, error(nil)
	for ; err == nil && n <= 2*mostItems; n++ {
		err = e.Add(n, f, 0, 0)
	}
	if err != syscall.ENOSPC || n < mostItems/2 {
		t.Errorf("%d items, %v", n, err)
	}
	e.Close()
	if got := itemCount.Load(); got != before {
		t.Errorf("%d items are left", got-before)
	}
	vfs.Close(f)
}

// TestDeletedItemsAreForgotten: a program that adds and deletes a ready file, and never waits, must
// not make the kernel keep an item each time.
func TestDeletedItemsAreForgotten(t *testing.T) {
	e := NewEpoll().Handle().(*Epoll)
	ready, stays := NewEventfd(1, false, 0), NewEventfd(1, false, 0)
	defer vfs.Close(ready)
	defer vfs.Close(stays)
	if err := e.Add(1, stays, 1, 7); err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		if err := e.Add(0, ready, 1, 0); err != nil {
			t.Fatal(err)
		}
		if err := e.Delete(0, ready); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(e.ready); n > 10 {
		t.Errorf("%d items are listed as ready, and one is in the set", n)
	}
	var got [4]Event
	if n, err := e.Wait(got[:], 0, nil); n != 1 || err != nil || got[0].Data != 7 {
		t.Errorf("%d events, %v, %v", n, got, err)
	}
	if e.Close(); e.stale != 0 || len(e.ready) != 0 {
		t.Errorf("after the close %d items are listed, %d of them as gone", len(e.ready), e.stale)
	}
}

// TestEventsAreBounded: each instance keeps many events, and there are many instances.
func TestEventsAreBounded(t *testing.T) {
	tree := vfs.New()
	before := queued.Load()
	var all []*vfs.File
	for range 2 * mostOfAll / mostQueued.Get() {
		f, err := NewInotify(vfs.O_NONBLOCK)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, f)
		i := f.Handle().(*Inotify)
		if _, err := i.Add(tree.RootPlace(), abi.IN_CREATE); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 3 * mostQueued.Get() {
		if err := tree.Mkdir(strconv.FormatInt(n%5000, 10)); err == nil {
			continue
		}
		tree.Remove(strconv.FormatInt(n%5000, 10))
	}
	if n := queued.Load() - before; n > mostOfAll+int64(len(all)) || n < mostOfAll/2 {
		t.Errorf("%d events are kept", n)
	}
	last := all[len(all)-1].Handle().(*Inotify)
	if h := last.events[len(last.events)-1]; h.what != abi.IN_Q_OVERFLOW {
		t.Errorf("the last event is %+v", h)
	}
	buf := make([]byte, 64<<10)
	for {
		if _, err := last.ReadAt(buf, 0); err != nil {
			break
		}
	}
	for _, f := range all {
		vfs.Close(f)
	}
	if n := queued.Load(); n != before {
		t.Errorf("%d events are left", n-before)
	}
}
