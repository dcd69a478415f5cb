package pipe

import (
	"errors"
	"syscall"
	"testing"

	"sonde/kernel/poll"
	"sonde/kernel/vfs"
)

type waits interface{ Peer() poll.Source }

func fifo(t *testing.T) (open func(flag int) *vfs.File) {
	tree := vfs.New()
	if err := tree.AddAt(tree.RootPlace(), "/fifo", NewFIFO(0600)); err != nil {
		t.Fatal(err)
	}
	if i, err := tree.StatAt(tree.RootPlace(), "/fifo", true); err != nil || i.ModeBits() != vfs.S_IFIFO|0600 || i.Links != 1 {
		t.Errorf("%o, %d links, %v", i.ModeBits(), i.Links, err)
	}
	return func(flag int) *vfs.File {
		t.Helper()
		f, err := tree.OpenFile("/fifo", flag)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
}

func peerOf(f *vfs.File) poll.Source { return f.Handle().(waits).Peer() }

// TestFIFOEndsWaitForEachOther: an end that was opened and closed again counts, too.
func TestFIFOEndsWaitForEachOther(t *testing.T) {
	open := fifo(t)
	r := open(vfs.O_RDONLY)
	other := peerOf(r)
	if other == nil || other.Poll() != 0 {
		t.Fatal("the first reader need not wait")
	}
	if r.Poll() != 0 {
		t.Errorf("nobody has written yet: %#x", r.Poll())
	}
	done := make(chan error)
	go func() { done <- poll.Until(other, poll.In, nil) }()
	w := open(vfs.O_WRONLY)
	if err := <-done; err != nil || peerOf(w) != nil {
		t.Error(err, "or the writer has to wait for a reader that is there")
	}
	w.Write([]byte("text"))
	w.Close()
	if other.Poll() != poll.In {
		t.Error("a writer that has left again does not count")
	}
	if r.Poll() != poll.In|poll.Hup {
		t.Errorf("it polls as %#x", r.Poll())
	}
	b := make([]byte, 10)
	if n, err := r.Read(b); n != 4 || err != nil {
		t.Error(n, err)
	}
	r.Close()
	if again := open(vfs.O_RDONLY); peerOf(again) == nil {
		t.Error("the next reader need not wait")
	}
}

func TestFIFOWriterWaitsForAReader(t *testing.T) {
	open := fifo(t)
	w := open(vfs.O_WRONLY)
	other := peerOf(w)
	if other == nil || other.Poll() != 0 {
		t.Fatal("the first writer need not wait")
	}
	open(vfs.O_RDONLY)
	if other.Poll() != poll.In {
		t.Error("a reader is there, and the writer waits")
	}
}

// TestFIFOOfAWaitingWriter: a reader that found a writer waiting is told when that writer closes.
func TestFIFOOfAWaitingWriter(t *testing.T) {
	open := fifo(t)
	w := open(vfs.O_WRONLY)
	r := open(vfs.O_RDONLY)
	w.Close()
	if r.Poll() != poll.Hup {
		t.Errorf("it polls as %#x", r.Poll())
	}
}

func TestFIFOWithoutWaiting(t *testing.T) {
	tree := vfs.New()
	tree.AddAt(tree.RootPlace(), "/fifo", NewFIFO(0600))
	if _, err := tree.OpenFile("/fifo", vfs.O_WRONLY|vfs.O_NONBLOCK); !errors.Is(err, syscall.ENXIO) {
		t.Errorf("no reader: %v", err)
	}
	both, err := tree.OpenFile("/fifo", vfs.O_RDWR)
	if err != nil || peerOf(both) != nil {
		t.Fatal("both ends in one", err)
	}
	if ev := both.Poll(); ev != poll.Out {
		t.Errorf("it polls as %#x", ev)
	}
	both.Write([]byte("x"))
	if n, err := both.Read(make([]byte, 2)); n != 1 || err != nil {
		t.Error(n, err)
	}
	if _, err := vfs.Read(both, make([]byte, 2), nil); err != syscall.EAGAIN {
		t.Errorf("empty, and its own writer: %v", err)
	}
	w, err := tree.OpenFile("/fifo", vfs.O_WRONLY|vfs.O_NONBLOCK)
	if err != nil {
		t.Fatal(err)
	}
	both.Close()
	if _, err := vfs.Write(w, []byte("x"), nil); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("the reader has gone: %v", err)
	}
}
