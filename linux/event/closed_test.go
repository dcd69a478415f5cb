package event

import (
	"syscall"
	"testing"

	"sonde/kernel/abi"
	"sonde/kernel/poll"
	"sonde/kernel/vfs"
)

// TestNothingIsAddedAfterTheClose: a thread may add to an instance that another thread closes
// meanwhile. What is added after the close would stay, because no later close removes it.
func TestNothingIsAddedAfterTheClose(t *testing.T) {
	file, err := NewInotify(0)
	if err != nil {
		t.Fatal(err)
	}
	i := file.Handle().(*Inotify)
	set := NewEpoll()
	e := set.Handle().(*Epoll)
	ready := NewEventfd(1, false, 0)
	defer vfs.Close(ready)
	items, watches := itemCount.Load(), watched.Load()
	vfs.Close(file)
	vfs.Close(set)
	if _, err := i.Add(vfs.New().RootPlace(), abi.IN_CREATE); err != syscall.EBADF {
		t.Errorf("watch: %v", err)
	}
	if err := e.Add(1, ready, uint32(poll.In), 0); err != syscall.EBADF {
		t.Errorf("file: %v", err)
	}
	if watched.Load() != watches || itemCount.Load() != items {
		t.Errorf("%d watches and %d items are left", watched.Load()-watches, itemCount.Load()-items)
	}
}
