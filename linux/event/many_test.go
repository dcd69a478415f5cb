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
