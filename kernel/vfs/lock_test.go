package vfs

import (
	"errors"
	"syscall"
	"testing"
)

func TestLocks(t *testing.T) {
	tree := New()
	open := func() *File {
		f, err := tree.OpenFile("/x", O_CREAT|O_RDWR)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	a, b, c := open(), open(), open()
	want := func(what string, got, want error) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	want("shared", a.Lock(false), nil)
	want("shared with it", b.Lock(false), nil)
	want("alone beside them", c.Lock(true), syscall.EAGAIN)
	want("alone beside one", a.Lock(true), syscall.EAGAIN)
	done := make(chan error)
	go func() { done <- c.LockWait(true, nil) }()
	b.Close()
	want("alone", <-done, nil)
	want("again", c.Lock(true), nil)
	want("beside it", a.Lock(false), syscall.EAGAIN)
	cancel := make(chan struct{}, 1)
	cancel <- struct{}{}
	want("a signal", a.LockWait(false, cancel), syscall.EINTR)
	c.Lock(false)
	want("not alone any more", a.Lock(false), nil)
	a.Close()
	c.Close()
	if len(flocks.of) != 0 {
		t.Errorf("%d locks are left", len(flocks.of))
	}
}

// TestNoLockAfterTheClose: a thread may lock a file that another thread closes meanwhile. Nobody
// could release a lock that it gets after the last close.
func TestNoLockAfterTheClose(t *testing.T) {
	tree := New()
	closed, err := tree.OpenFile("/x", O_CREAT|O_RDWR)
	if err != nil {
		t.Fatal(err)
	}
	other, err := tree.OpenFile("/x", O_RDWR)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	closed.Close()
	for what, lock := range map[string]func() error{
		"Lock":     func() error { return closed.Lock(true) },
		"LockWait": func() error { return closed.LockWait(true, nil) },
	} {
		if err := lock(); !errors.Is(err, syscall.EBADF) {
			t.Errorf("%s: %v", what, err)
		}
		if err := other.Lock(true); err != nil {
			t.Errorf("another file, after %s: %v", what, err)
		}
		other.Unlock()
	}
}
