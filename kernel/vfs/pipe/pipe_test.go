package pipe

import (
	"bytes"
	"errors"
	"io"
	"math/rand"
	"sync"
	"syscall"
	"testing"

	"sonde/kernel/poll"
	"sonde/kernel/vfs"
)

func TestBytesComeOutAsTheyWentIn(t *testing.T) {
	r, w := New(0)
	sent := make([]byte, 3<<20)
	rand.New(rand.NewSource(1)).Read(sent)
	go func() {
		rnd := rand.New(rand.NewSource(2))
		for rest := sent; len(rest) > 0; {
			n := min(len(rest), 1+rnd.Intn(100_000))
			if got, err := w.Write(rest[:n]); got != n || err != nil {
				t.Error(got, err)
				break
			}
			rest = rest[n:]
		}
		w.Close()
	}()
	got, err := io.ReadAll(r)
	if err != nil || !bytes.Equal(got, sent) {
		t.Errorf("%d bytes of %d, or others: %v", len(got), len(sent), err)
	}
}

func TestSmallWritesAreInOnePiece(t *testing.T) {
	r, w := New(0)
	var wg sync.WaitGroup
	const size = Atomic - 1 // does not divide the capacity
	for i := range 4 {
		wg.Go(func() {
			for range 50 {
				w.Write(bytes.Repeat([]byte{byte(i)}, size))
			}
		})
	}
	go func() { wg.Wait(); w.Close() }()
	b := make([]byte, size)
	n := 0
	for ; ; n++ {
		if _, err := io.ReadFull(r, b); err != nil {
			break
		}
		if bytes.Count(b, b[:1]) != size {
			t.Fatal("a write was torn")
		}
	}
	if n != 200 {
		t.Errorf("%d writes arrived", n)
	}
}

func TestWhatWouldWaitIsEAGAIN(t *testing.T) {
	r, w := New(vfs.O_NONBLOCK)
	if _, err := vfs.Read(r, make([]byte, 1), nil); err != syscall.EAGAIN {
		t.Errorf("read: %v", err)
	}
	if n, err := vfs.Write(w, make([]byte, Capacity+5), vfs.Patient{}); n != Capacity || err != nil {
		t.Errorf("what fits: %d, %v", n, err)
	}
	if _, err := vfs.Write(w, []byte{1}, vfs.Patient{}); err != syscall.EAGAIN {
		t.Errorf("write: %v", err)
	}
	if ev := w.Poll(); ev != 0 {
		t.Errorf("full, it polls as %#x", ev)
	}
	r.Read(make([]byte, Atomic))
	if ev := w.Poll(); ev != poll.Out {
		t.Errorf("with room, it polls as %#x", ev)
	}
}

func TestSignalsEndWaiting(t *testing.T) {
	r, w := New(0)
	cancel := make(chan struct{}, 1)
	cancel <- struct{}{}
	if _, err := vfs.Read(r, make([]byte, 1), canceled(cancel)); err != syscall.EINTR {
		t.Errorf("read: %v", err)
	}
	cancel <- struct{}{}
	if n, err := vfs.Write(w, make([]byte, Capacity+1), canceled(cancel)); n != Capacity || err != nil {
		t.Errorf("a write that was begun: %d, %v", n, err)
	}
	cancel <- struct{}{}
	if n, err := vfs.Write(w, []byte{1}, canceled(cancel)); n != 0 || err != syscall.EINTR {
		t.Errorf("a write that was not: %d, %v", n, err)
	}
}

func TestEndsTellEachOther(t *testing.T) {
	r, w := New(0)
	w.Write([]byte("last"))
	if ev := r.Poll(); ev != poll.In {
		t.Errorf("%#x", ev)
	}
	w.Close()
	if ev := r.Poll(); ev != poll.In|poll.Hup {
		t.Errorf("%#x", ev)
	}
	if got, err := io.ReadAll(r); string(got) != "last" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if ev := r.Poll(); ev != poll.Hup {
		t.Errorf("%#x", ev)
	}
	r, w = New(0)
	waits := make(chan error)
	go func() {
		w.Write(make([]byte, 2*Capacity)) // its first half goes in
		_, err := w.Write([]byte{1})
		waits <- err
	}()
	if err := poll.Until(r, poll.In, nil); err != nil {
		t.Fatal(err)
	}
	r.Close()
	if err := <-waits; !errors.Is(err, syscall.EPIPE) {
		t.Errorf("got %v, want EPIPE", err)
	}
	if ev := w.Poll(); ev != poll.Out|poll.Err {
		t.Errorf("%#x", ev)
	}
}

func TestPipeHasNoPlaces(t *testing.T) {
	r, w := New(0)
	if _, err := r.Seek(0, io.SeekCurrent); !errors.Is(err, syscall.ESPIPE) {
		t.Errorf("seek: %v", err)
	}
	if _, err := r.ReadAt(make([]byte, 1), 0); !errors.Is(err, syscall.ESPIPE) {
		t.Errorf("pread: %v", err)
	}
	if err := w.Truncate(0); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("ftruncate: %v", err)
	}
	if _, err := w.Read(make([]byte, 1)); !errors.Is(err, syscall.EBADF) {
		t.Errorf("reading the end to write to: %v", err)
	}
	if i := r.Info(); i.ModeBits() != vfs.S_IFIFO|0o600 || i.Ino == 0 || i.Ino != w.Info().Ino {
		t.Errorf("%+v", i)
	}
}

// TestBuffersAreBounded: without a bound, a program could make the kernel keep 64 KiB for each pair
// of its descriptors. Small pipes behave as large ones do.
func TestBuffersAreBounded(t *testing.T) {
	var files []*vfs.File
	before := taken.Load()
	for range 3 * Most / Capacity {
		r, w := New(vfs.O_NONBLOCK)
		files = append(files, r, w)
		if n, err := w.Write([]byte("x")); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	}
	if n := taken.Load(); n > Most+int64(len(files)/2*Atomic) {
		t.Errorf("%d bytes are taken for %d pipes", n, len(files)/2)
	}
	r, w := files[len(files)-2], files[len(files)-1]
	if ev := w.Poll(); ev != 0 {
		t.Errorf("no room for a piece, but %#x", ev)
	}
	if n, err := w.Write(make([]byte, 3*Atomic)); n != Atomic-1 || err != nil {
		t.Errorf("it takes %d, %v", n, err)
	}
	b := make([]byte, 2*Atomic)
	if n, err := r.Read(b); n != Atomic || b[0] != 'x' || err != nil {
		t.Errorf("it gives %d, %v", n, err)
	}
	if n, err := w.Write(make([]byte, Atomic)); n != Atomic || err != nil {
		t.Errorf("a piece: %d, %v", n, err)
	}
	for _, f := range files {
		f.Close()
	}
	if n := taken.Load(); n != before {
		t.Errorf("%d bytes are still taken", n-before)
	}
}

// canceled is a waiter with a channel.
type canceled chan struct{}

func (c canceled) Cancel() <-chan struct{} { return c }
