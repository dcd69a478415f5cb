package sock

import (
	"bytes"
	"errors"
	"io"
	"math/rand"
	"sync"
	"syscall"
	"testing"
	"time"

	"sonde/internal/quick"
	"sonde/kernel/abi"
	"sonde/kernel/poll"
	"sonde/kernel/vfs"
)

// clean fails the test if sockets, files or ports are left over.
func clean(t *testing.T) {
	t.Helper()
	files, bytes := vfs.Opened(), taken.Load()
	t.Cleanup(func() {
		for late := time.Now().Add(quick.Hang); Passed() > 0 && time.Now().Before(late); {
			time.Sleep(time.Millisecond) // until the search for cycles has run
		}
		if n := vfs.Opened() - files; n != 0 {
			t.Errorf("%d files are left open", n)
		}
		if n := taken.Load() - bytes; n != 0 {
			t.Errorf("%d bytes are left in inboxes", n)
		}
		if n := Passed(); n != 0 {
			t.Errorf("%d files are left in messages", n)
		}
		if n := len(enlisted()); n != 0 {
			t.Errorf("%d sockets are left", n)
		}
	})
}

func pair(t *testing.T, k Kind) (a, b *vfs.File) {
	t.Helper()
	return Pair(abi.AF_UNIX, k, Cred{PID: 1}, 0)
}

func socketOf(t *testing.T, f *vfs.File) *Socket {
	t.Helper()
	s, err := Of(f)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// pass sends files with one byte. The caller keeps them, too.
func pass(t *testing.T, to *vfs.File, files ...*vfs.File) error {
	t.Helper()
	for _, f := range files {
		f.Hold()
	}
	_, err := socketOf(t, to).Send(Message{Data: []byte("x"), Files: files}, nil)
	if err != nil {
		CloseAll(files)
	}
	return err
}

func receive(t *testing.T, f *vfs.File, n int) (string, Received, error) {
	t.Helper()
	var b bytes.Buffer
	r, err := socketOf(t, f).Receive(Want{Len: n, Put: func(_ int, p []byte) (int, error) { return b.Write(p) }})
	return b.String(), r, err
}

// TestStreamUnderPressure: bytes arrive in order and once, with waiting writers and readers in both
// directions.
func TestStreamUnderPressure(t *testing.T) {
	clean(t)
	a, b := pair(t, Stream)
	const total = 3 << 20
	var wg sync.WaitGroup
	for i, end := range [][2]*vfs.File{{a, b}, {b, a}} {
		wg.Go(func() {
			rnd := rand.New(rand.NewSource(int64(i)))
			buf := make([]byte, 1<<17)
			for at := 0; at < total; {
				n := min(1+rnd.Intn(len(buf)), total-at)
				for k := range buf[:n] {
					buf[k] = byte((at + k) * 7 >> 3)
				}
				m, err := end[0].Write(buf[:n])
				if err != nil {
					t.Error(err)
					return
				}
				at += m
			}
			socketOf(t, end[0]).Shutdown(false, true)
		})
		wg.Go(func() {
			rnd := rand.New(rand.NewSource(int64(i + 2)))
			buf := make([]byte, 1<<16)
			for at := 0; ; {
				n, err := end[1].Read(buf[:1+rnd.Intn(len(buf))])
				if err == io.EOF && at == total {
					return
				}
				if err != nil {
					t.Errorf("%v after %d bytes", err, at)
					return
				}
				for k, c := range buf[:n] {
					if c != byte((at+k)*7>>3) {
						t.Errorf("byte %d is wrong", at+k)
						return
					}
				}
				at += n
			}
		})
	}
	wg.Wait()
	a.Close()
	b.Close()
}

// TestClosingWakesThoseWhoWait: at either end, for every operation that waits.
func TestClosingWakesThoseWhoWait(t *testing.T) {
	for _, k := range []Kind{Stream, Seqpacket, Datagram} {
		for _, own := range []bool{false, true} {
			clean(t)
			a, b := pair(t, k)
			for err := error(nil); err == nil; {
				_, err = vfs.Write(a, make([]byte, 1000), nil)
			}
			var wg sync.WaitGroup
			wg.Go(func() { // the inbox is full
				if _, err := a.Write([]byte("x")); err == nil {
					t.Errorf("%d, own %v: a write to a closed socket succeeds", k, own)
				}
			})
			if own || k != Datagram { // other senders may still write to a datagram socket
				wg.Go(func() { a.Read(make([]byte, 1)) })
			}
			time.Sleep(5 * time.Millisecond)
			if own {
				a.Close()
			} else {
				b.Close()
			}
			wg.Wait()
			a.Close()
			b.Close()
		}
	}
}

func TestNamesMeet(t *testing.T) {
	clean(t)
	l := New(abi.AF_UNIX, Stream, 0)
	listener := socketOf(t, l)
	name := Addr{Family: abi.AF_UNIX, Name: "\x00here"}
	if err := errors.Join(listener.Bind(name), listener.Listen(1, Cred{PID: 5})); err != nil {
		t.Fatal(err)
	}
	var clients []*vfs.File
	for i := range 3 {
		c := New(abi.AF_UNIX, Stream, 0)
		clients = append(clients, c)
		to, err := socketOf(t, c).Find(name)
		if err != nil {
			t.Fatal(err)
		}
		want := error(nil)
		if i == 2 {
			want = syscall.EAGAIN
		}
		if err := socketOf(t, c).Connect(to, Cred{PID: 6}); err != want {
			t.Errorf("connection %d: %v, want %v", i, err, want)
		}
	}
	c, err := listener.Accept(0)
	if err != nil {
		t.Fatal(err)
	}
	if who, _ := socketOf(t, c).Other(); who.PID != 6 {
		t.Errorf("the client is %d", who.PID)
	}
	if who, _ := socketOf(t, clients[0]).Other(); who.PID != 5 {
		t.Errorf("the server is %d", who.PID)
	}
	if err := socketOf(t, clients[2]).Connect(listener, Cred{}); err != nil {
		t.Errorf("there is room again: %v", err)
	}
	l.Close()
	if _, err := clients[1].Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("one that was never accepted: %v", err)
	}
	if _, err := socketOf(t, c).Find(name); err != syscall.ECONNREFUSED {
		t.Errorf("the name of a closed socket: %v", err)
	}
	c.Close()
	for _, c := range clients {
		c.Close()
	}
}

// TestConnectWhileClosing: a connection that is made while the listener closes is refused or reset,
// and nothing is left over.
func TestConnectWhileClosing(t *testing.T) {
	clean(t)
	for range 200 {
		l := New(abi.AF_UNIX, Stream, 0)
		listener := socketOf(t, l)
		listener.Bind(Addr{Family: abi.AF_UNIX})
		listener.Listen(5, Cred{})
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				c := New(abi.AF_UNIX, Stream, 0)
				defer c.Close()
				switch err := socketOf(t, c).Connect(listener, Cred{}); err {
				case nil:
					c.Read(make([]byte, 1)) // ends when the other end does
				case syscall.ECONNREFUSED:
				default:
					t.Error(err)
				}
			})
		}
		wg.Go(func() {
			if c, err := listener.Accept(0); err == nil {
				c.Close()
			}
		})
		wg.Go(func() { l.Close() })
		wg.Wait()
	}
}

// TestCyclesAreFound: sockets held only by messages that lie in the inboxes of such sockets.
func TestCyclesAreFound(t *testing.T) {
	for name, tie := range map[string]func(a, b, c, d *vfs.File){
		"itself":      func(a, b, c, d *vfs.File) { pass(t, b, a) },
		"each other":  func(a, b, c, d *vfs.File) { pass(t, a, c); pass(t, c, a) },
		"a long way":  func(a, b, c, d *vfs.File) { pass(t, a, c); pass(t, c, b); pass(t, b, d); pass(t, d, a) },
		"twice":       func(a, b, c, d *vfs.File) { pass(t, b, a, a, b); pass(t, a, b, a) },
		"not at all":  func(a, b, c, d *vfs.File) { pass(t, a, c); pass(t, a, d) },
		"all to one":  func(a, b, c, d *vfs.File) { pass(t, a, a, b, c, d) },
		"of packets":  func(a, b, c, d *vfs.File) { pass(t, d, a, d); pass(t, a, c) },
		"two of them": func(a, b, c, d *vfs.File) { pass(t, b, a); pass(t, d, c) },
	} {
		t.Run(name, func(t *testing.T) {
			clean(t)
			a, b := pair(t, Stream)
			c, d := pair(t, Seqpacket)
			tie(a, b, c, d)
			for _, f := range []*vfs.File{a, b, c, d} {
				f.Close()
			}
		})
	}
}

// TestReachableIsKept: sockets that a descriptor leads to are not a garbage cycle.
func TestReachableIsKept(t *testing.T) {
	clean(t)
	a, b := pair(t, Stream)
	c, d := pair(t, Stream)
	pass(t, b, c, d) // in a
	pass(t, d, c)    // in c
	c.Close()
	d.Close()
	x, y := pair(t, Stream)
	x.Close()
	y.Close()
	_, r, err := receive(t, a, 1)
	if err != nil || len(r.Files) != 2 {
		t.Fatalf("%d files, %v", len(r.Files), err)
	}
	if _, r2, err := receive(t, r.Files[0], 1); err != nil || len(r2.Files) != 1 || r2.Files[0] != r.Files[0] {
		t.Errorf("%d files, %v", len(r2.Files), err)
	} else {
		CloseAll(r2.Files)
	}
	CloseAll(r.Files)
	a.Close()
	b.Close()
}

// TestLongChainNeedsNoStack: each socket is in a message that lies in the next one.
func TestLongChainNeedsNoStack(t *testing.T) {
	clean(t)
	last, other := pair(t, Stream)
	other.Close()
	for i := 0; ; i++ {
		a, b := pair(t, Stream)
		err := pass(t, a, last)
		last.Close()
		a.Close()
		last = b
		if err == syscall.ETOOMANYREFS {
			if i != mostPassed {
				t.Errorf("the %dth is refused", i)
			}
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	last.Close()
}

// TestPassingUnderPressure: several goroutines send sockets through each other, receive and close
// them while the search for cycles runs.
func TestPassingUnderPressure(t *testing.T) {
	clean(t)
	a, b := pair(t, Seqpacket)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			rnd := rand.New(rand.NewSource(int64(i)))
			for range 400 {
				x, y := pair(t, Stream)
				if rnd.Intn(2) == 0 {
					pass(t, x, y, a)
				}
				if rnd.Intn(3) == 0 {
					pass(t, y, x)
				}
				pass(t, a, x, y)
				x.Close()
				y.Close()
				if _, r, err := receive(t, b, 1); err == nil {
					CloseAll(r.Files)
				}
			}
		})
	}
	wg.Wait()
	a.Close()
	b.Close()
}

func TestDatagramsWaitForRoom(t *testing.T) {
	clean(t)
	a, b := pair(t, Datagram)
	n := 0
	for ; vfsWrite(a) == nil; n++ {
	}
	if n != mostQueued || a.Poll()&poll.Out != 0 {
		t.Errorf("%d datagrams, %#x", n, a.Poll())
	}
	done := make(chan error)
	go func() { _, err := a.Write([]byte("x")); done <- err }()
	vfs.Read(b, make([]byte, 10), nil)
	if err := <-done; err != nil {
		t.Error(err)
	}
	c := New(abi.AF_UNIX, Datagram, 0)
	if err := socketOf(t, c).Connect(socketOf(t, b), Cred{}); err != syscall.EPERM {
		t.Errorf("one that talks to another only: %v", err)
	}
	for _, f := range []*vfs.File{a, b, c} {
		f.Close()
	}
}

func vfsWrite(f *vfs.File) error {
	_, err := vfs.Write(f, []byte("datagram"), nil)
	return err
}

// TestMemoryIsBounded: if all inboxes together hold too much, each takes little.
func TestMemoryIsBounded(t *testing.T) {
	clean(t)
	var all []*vfs.File
	for range 1000 {
		a, b := pair(t, Stream)
		all = append(all, a, b)
		for n := 1; n > 0; {
			n, _ = vfs.Write(a, make([]byte, 1<<16), nil)
		}
	}
	if n := taken.Load(); n > most+1000*(scarce+overhead)+2*defaultBuffer {
		t.Errorf("%d bytes", n)
	}
	for _, f := range all {
		f.Close()
	}
}
