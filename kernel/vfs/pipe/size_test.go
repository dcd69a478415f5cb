package pipe

import (
	"bytes"
	"io"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"sonde/kernel/poll"
	"sonde/kernel/vfs"
)

// newSized returns a pipe with two non-blocking ends, and its Resizer.
func newSized(t *testing.T) (r, w *vfs.File, p Resizer) {
	t.Helper()
	r, w = New(vfs.O_NONBLOCK)
	p, ok := w.Handle().(Resizer)
	if _, also := r.Handle().(Resizer); !ok || !also {
		t.Fatal("an end has no size")
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w, p
}

func TestAPipeHoldsWhatItIsMadeFor(t *testing.T) {
	r, w, p := newSized(t)
	if p.Size() != Capacity {
		t.Errorf("a new pipe holds %d", p.Size())
	}
	for _, tt := range []struct{ asked, want int }{
		{0, Atomic}, {1, Atomic}, {Atomic, Atomic}, {Atomic + 1, 2 * Atomic}, {3 * Atomic, 4 * Atomic}, {1 << 20, 1 << 20},
	} {
		got, err := p.Resize(tt.asked)
		if got != tt.want || err != nil || p.Size() != tt.want {
			t.Errorf("asked for %d: %d, %v, and then %d", tt.asked, got, err, p.Size())
		}
		if n, _ := w.Write(make([]byte, 2<<20)); n != tt.want {
			t.Errorf("a pipe of %d bytes took %d", tt.want, n)
		}
		if n, err := io.ReadFull(r, make([]byte, tt.want)); n != tt.want {
			t.Errorf("of %d bytes %d came out: %v", tt.want, n, err)
		}
	}
}

func TestResizingKeepsWhatIsInThePipe(t *testing.T) {
	r, w, p := newSized(t)
	p.Resize(2 * Atomic)
	w.Write(make([]byte, Atomic+100))
	io.ReadFull(r, make([]byte, Atomic+100)) // so that the ring begins in the middle of the buffer
	sent := bytes.Repeat([]byte("0123456"), 1000)
	w.Write(sent)
	if _, err := p.Resize(Atomic); err != syscall.EBUSY || p.Size() != 2*Atomic {
		t.Errorf("smaller than what is in it: %v, then it holds %d", err, p.Size())
	}
	if w.Poll()&poll.Out != 0 {
		t.Error("a write of a page would fit")
	}
	if _, err := p.Resize(4 * Atomic); err != nil || w.Poll()&poll.Out == 0 {
		t.Errorf("larger: %v; polls as %#x", err, w.Poll())
	}
	got := make([]byte, len(sent))
	if _, err := io.ReadFull(r, got); err != nil || !bytes.Equal(got, sent) {
		t.Errorf("other bytes came out: %v", err)
	}
}

func TestGrowingWakesWriters(t *testing.T) {
	r, w := New(0)
	defer r.Close()
	p := w.Handle().(Resizer)
	p.Resize(Atomic)
	w.Write(make([]byte, Atomic))
	done := make(chan error)
	go func() {
		_, err := w.Write(make([]byte, 1))
		done <- err
	}()
	select {
	case err := <-done:
		t.Fatalf("a full pipe took a byte: %v", err)
	case <-time.After(20 * time.Millisecond): // by then the writer waits; a slower one proves nothing
	}
	p.Resize(2 * Atomic)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestSizesOfAllPipesAreBounded(t *testing.T) {
	_, w, p := newSized(t)
	before := taken.Load()
	for _, tt := range []struct {
		asked int
		want  error
	}{{-1, syscall.EINVAL}, {1<<31 + 1, syscall.EINVAL}, {1 << 31, syscall.ENOMEM}, {2 * Most, syscall.ENOMEM}} {
		if _, err := p.Resize(tt.asked); err != tt.want || p.Size() != Capacity {
			t.Errorf("asked for %d: %v, and it holds %d", tt.asked, err, p.Size())
		}
	}
	p.Resize(1 << 20)
	w.Write([]byte("x"))
	if now := taken.Load(); now-before != 1<<20 {
		t.Errorf("%d bytes are taken, not 1 MiB", now-before)
	}
	p.Resize(Atomic)
	if now := taken.Load(); now-before != Atomic {
		t.Errorf("%d bytes are taken, not a page", now-before)
	}
}

// TestUnreadDoesNotGrowThePipe: a program that reads into memory that is not there, while another
// thread writes, must not get a larger buffer each time.
func TestUnreadDoesNotGrowThePipe(t *testing.T) {
	r, w, p := newSized(t)
	defer r.Close()
	defer w.Close()
	full := make([]byte, Capacity)
	for range 50 {
		w.Write(full)
		b := make([]byte, Capacity)
		n, err := r.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		w.Write(full)
		r.Unread(b[:n])
	}
	end := r.Handle().(*readEnd)
	if n := len(end.buf); n > 2*Capacity || p.Size() != Capacity {
		t.Errorf("the buffer has %d bytes, the pipe %d", n, p.Size())
	}
	if n, err := io.ReadFull(r, make([]byte, 2*Capacity)); err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
	if n, err := w.Write(full); n != Capacity || err != nil {
		t.Errorf("%d bytes fit, %v", n, err)
	}
}

// TestResizesShareTheBound: pipes that are resized at the same time.
func TestResizesShareTheBound(t *testing.T) {
	before := taken.Load()
	var made atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		r, w, p := newSized(t)
		defer r.Close()
		defer w.Close()
		w.Write([]byte("x"))
		wg.Go(func() {
			if _, err := p.Resize(Most / 2); err == nil {
				made.Add(1)
			}
		})
	}
	wg.Wait()
	if n := taken.Load() - before; n > Most || made.Load() == 0 {
		t.Errorf("%d bytes are taken, by %d pipes of %d bytes each", n, made.Load(), Most/2)
	}
}
