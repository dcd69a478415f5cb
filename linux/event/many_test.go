package event

import (
	"syscall"
	"testing"

	"sonde/kernel/vfs"
)

func TestItemsAreBounded(t *testing.T) {
	e, err := EpollOf(NewEpoll())
	if err != nil {
		t.Fatal(err)
	}
	before := itemCount.Load()
	f := NewEventfd(0, false, 0)
	n := 0
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
	e, err := EpollOf(NewEpoll())
	if err != nil {
		t.Fatal(err)
	}
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
