package vfs

import (
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
	if len(locks.of) != 0 {
		t.Errorf("%d locks are left", len(locks.of))
	}
}
