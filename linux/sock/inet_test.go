package sock

import (
	"errors"
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"

	"sonde/kernel/abi"
	"sonde/kernel/poll"
	"sonde/kernel/vfs"
)

func ip4(d byte, port uint16) Addr {
	return Addr{Family: abi.AF_INET, IP: [16]byte{127, 0, 0, d}, Port: port}
}

// inet returns a socket that is closed with the test.
func inet(t *testing.T, k Kind) (*Socket, *vfs.File) {
	t.Helper()
	f := New(abi.AF_INET, k, 0)
	t.Cleanup(func() { f.Close() })
	return socketOf(t, f), f
}

func reuse(s *Socket) {
	s.Change(func(o *Options) { o.Kept = map[uint64]int32{Option(abi.SOL_SOCKET, abi.SO_REUSEADDR): 1} })
}

func want(t *testing.T, what string, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("%s: %v, not %v", what, got, want)
	}
}

// listens returns a socket that listens at a free port, and its address.
func listens(t *testing.T, backlog int) (*Socket, Addr) {
	t.Helper()
	l, _ := inet(t, Stream)
	want(t, "bind", l.Bind(ip4(1, 0)), nil)
	want(t, "listen", l.Listen(backlog, Cred{}), nil)
	return l, l.Addr()
}

// connection returns both ends of a connection.
func connection(t *testing.T) (client, server *vfs.File) {
	t.Helper()
	l, a := listens(t, 1)
	c, f := inet(t, Stream)
	want(t, "connect", c.Dial(a, Cred{}), syscall.EINPROGRESS)
	want(t, "connect again", c.Dial(a, Cred{}), nil)
	want(t, "and again", c.Dial(a, Cred{}), syscall.EISCONN)
	e, err := l.Accept(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return f, e
}

func TestConnectionByPort(t *testing.T) {
	clean(t)
	f, e := connection(t)
	c, s := socketOf(t, f), socketOf(t, e)
	if p, _ := c.Peer(); p != s.Addr() || p.IP != ip4(1, 0).IP {
		t.Errorf("the server is %v and %v", p, s.Addr())
	}
	if p, _ := s.Peer(); p != c.Addr() || p.Port == 0 {
		t.Errorf("the client is %v and %v", p, c.Addr())
	}
	if _, err := vfs.Write(f, []byte("hello"), nil); err != nil {
		t.Fatal(err)
	}
	if b, r, err := receive(t, e, 10); b != "hello" || err != nil || r.From != (Addr{}) {
		t.Errorf("%q from %v, %v", b, r.From, err)
	}
}

// TestEndOfConnection: a connection ends as TCP's do, not as those of AF_UNIX.
func TestEndOfConnection(t *testing.T) {
	clean(t)
	f, e := connection(t)
	e.Close()
	if ev := f.Poll(); ev != poll.In|poll.Out|poll.RdHup {
		t.Errorf("after the other end's close: %#x", ev)
	}
	_, err := vfs.Write(f, []byte("unnoticed"), nil)
	want(t, "first write", err, nil)
	if ev := f.Poll(); ev&(poll.Err|poll.Hup) != poll.Err|poll.Hup {
		t.Errorf("after it: %#x", ev)
	}
	_, err = vfs.Write(f, []byte("x"), nil)
	want(t, "second write", err, syscall.EPIPE)

	f, e = connection(t)
	vfs.Write(f, []byte("unread"), nil)
	e.Close()
	_, _, err = receive(t, f, 1)
	want(t, "unread", err, syscall.ECONNRESET)

	f, e = connection(t)
	socketOf(t, e).Change(func(o *Options) { o.Linger.On = 1 })
	e.Close()
	_, _, err = receive(t, f, 1)
	want(t, "linger 0", err, syscall.ECONNRESET)

	f, e = connection(t)
	socketOf(t, e).Shutdown(true, false)
	_, err = vfs.Write(f, []byte("x"), nil)
	want(t, "to one that reads no more", err, nil)
	_, err = vfs.Write(f, []byte("y"), nil)
	want(t, "once more", err, nil)
}

func TestNobodyListens(t *testing.T) {
	clean(t)
	_, a := listens(t, 1)
	c, f := inet(t, Stream)
	_, _, err := receive(t, f, 1)
	want(t, "fresh", err, syscall.ENOTCONN)
	want(t, "shutdown", c.Shutdown(true, true), syscall.ENOTCONN)
	away := Addr{Family: abi.AF_INET, IP: [16]byte{10, 0, 0, 1}, Port: 1}
	want(t, "another machine", c.Dial(away, Cred{}), syscall.ENETUNREACH)
	want(t, "bind to another machine", c.Bind(away), syscall.EADDRNOTAVAIL)
	a.IP[3] = 2 // the listener is at 127.0.0.1
	want(t, "begin", c.Dial(a, Cred{}), syscall.EINPROGRESS)
	if ev := f.Poll(); ev&(poll.Out|poll.Err|poll.Hup) != poll.Out|poll.Err|poll.Hup {
		t.Errorf("refused: %#x", ev)
	}
	if err := c.Err(); err != syscall.ECONNREFUSED {
		t.Errorf("SO_ERROR %v", err)
	}
	want(t, "told", c.Dial(a, Cred{}), syscall.ECONNABORTED)
	want(t, "begin again", c.Dial(a, Cred{}), syscall.EINPROGRESS)
	want(t, "told again", c.Dial(a, Cred{}), syscall.ECONNREFUSED)
	a.IP[3] = 1
	want(t, "the right one", c.Dial(a, Cred{}), syscall.EINPROGRESS)
	want(t, "made", c.Dial(a, Cred{}), nil)
	if ev := f.Poll(); ev != poll.Out {
		t.Errorf("connected at last: %#x", ev)
	}
}

// TestOwnAddressFirst: of two sockets that share a port, the one with the exact address receives.
func TestOwnAddressFirst(t *testing.T) {
	clean(t)
	for i, order := range [][2]byte{{0, 1}, {1, 0}} {
		number := uint16(4001 + i)
		var own *vfs.File
		for _, d := range order {
			s, f := inet(t, Datagram)
			reuse(s)
			a := ip4(1, number)
			if d == 0 {
				a.IP = [16]byte{}
			} else {
				own = f
			}
			want(t, "bind", s.Bind(a), nil)
		}
		s, _ := inet(t, Datagram)
		s.Send(Message{Data: []byte("x"), To: ip4(1, number)}, nil)
		if b, _, err := receive(t, own, 1); b != "x" || err != nil {
			t.Errorf("%v: %q, %v", order, b, err)
		}
	}
}

// TestFullBacklog: a connection is retried, and abandoned when its socket is closed.
func TestFullBacklog(t *testing.T) {
	clean(t)
	l, a := listens(t, 0)
	first, _ := inet(t, Stream)
	want(t, "first", first.Dial(a, Cred{}), syscall.EINPROGRESS)
	c, f := inet(t, Stream)
	gone := New(abi.AF_INET, Stream, 0)
	want(t, "gone", socketOf(t, gone).Dial(a, Cred{}), syscall.EINPROGRESS)
	gone.Close()
	want(t, "second", c.Dial(a, Cred{}), syscall.EINPROGRESS)
	want(t, "meanwhile", c.Dial(a, Cred{}), syscall.EALREADY)
	if ev := f.Poll(); ev != 0 {
		t.Errorf("meanwhile %#x", ev)
	}
	_, err := c.Send(Message{Data: []byte("x")}, nil)
	want(t, "send", err, syscall.EAGAIN)
	e, err := l.Accept(0)
	want(t, "accept", err, nil)
	defer e.Close()
	if _, err := poll.Many([]poll.Want{{Source: f, Events: poll.Out}}, time.Minute, nil); err != nil || f.Poll() != poll.Out {
		t.Errorf("%v, %#x", err, f.Poll())
	}
	want(t, "made", c.Dial(a, Cred{}), nil)
}

func TestPortsAreShared(t *testing.T) {
	for _, c := range []struct {
		what   string
		kind   Kind
		a, b   byte // the last byte of each address; 0: all addresses
		reuse  bool
		listen bool
		err    error
	}{
		{"the same", Stream, 1, 1, false, false, syscall.EADDRINUSE},
		{"another", Stream, 1, 2, false, false, nil},
		{"all of them", Stream, 1, 0, false, false, syscall.EADDRINUSE},
		{"one of all", Stream, 0, 1, false, false, syscall.EADDRINUSE},
		{"reused", Stream, 1, 1, true, false, nil},
		{"listening", Stream, 1, 1, true, true, syscall.EADDRINUSE},
		{"datagrams", Datagram, 1, 1, false, false, syscall.EADDRINUSE},
		{"datagrams, reused", Datagram, 1, 1, true, false, nil},
	} {
		t.Run(c.what, func(t *testing.T) {
			clean(t)
			x, f := inet(t, c.kind)
			y, _ := inet(t, c.kind)
			if c.reuse {
				reuse(x)
				reuse(y)
			}
			at := func(d byte) (a Addr) {
				if a = ip4(d, 4000); d == 0 {
					a.IP = [16]byte{}
				}
				return a
			}
			want(t, "first", x.Bind(at(c.a)), nil)
			if c.listen {
				want(t, "listen", x.Listen(1, Cred{}), nil)
			}
			want(t, "second", y.Bind(at(c.b)), c.err)
			if c.err != nil {
				f.Close()
				want(t, "when it is free", y.Bind(at(c.b)), nil)
			} else if c.reuse && c.kind == Stream {
				want(t, "x listens", x.Listen(1, Cred{}), nil)
				want(t, "y listens", y.Listen(1, Cred{}), syscall.EADDRINUSE)
			}
			want(t, "twice", y.Bind(at(3)), syscall.EINVAL)
		})
	}
	if n := len(names.ports); n != 0 {
		t.Errorf("%d ports are left", n)
	}
}

func TestFreePortsEnd(t *testing.T) {
	clean(t)
	var all []*vfs.File
	defer func() { CloseAll(all) }()
	for i := 0; ; i++ {
		f := New(abi.AF_INET, Datagram, 0)
		all = append(all, f)
		if err := socketOf(t, f).Bind(ip4(1, 0)); err != nil {
			want(t, fmt.Sprint("port ", i), err, syscall.EADDRINUSE)
			if i != lastFree-firstFree+1 {
				t.Errorf("%d ports", i)
			}
			return
		}
	}
}

func TestDatagramsByPort(t *testing.T) {
	clean(t)
	a, _ := inet(t, Datagram)
	b, fb := inet(t, Datagram)
	want(t, "bind", b.Bind(ip4(1, 0)), nil)
	send := func(s *Socket, to Addr) error {
		_, err := s.Send(Message{Data: []byte("x"), To: to}, nil)
		return err
	}
	want(t, "nowhere", send(a, Addr{}), syscall.EDESTADDRREQ)
	want(t, "sent", send(a, b.Addr()), nil)
	_, r, err := receive(t, fb, 9)
	if err != nil || r.From != (ip4(1, a.Addr().Port)) {
		t.Errorf("from %v, %v", r.From, err)
	}
	_, err = a.Send(Message{Data: make([]byte, mostUDP+1), To: b.Addr()}, nil)
	want(t, "too long", err, syscall.EMSGSIZE)

	want(t, "connect", b.Dial(ip4(1, 9), Cred{}), nil)
	want(t, "from another", send(a, b.Addr()), nil)
	if _, _, err := receive(t, fb, 9); err != syscall.EAGAIN {
		t.Errorf("from another: %v", err)
	}
	want(t, "to nobody", send(b, Addr{}), nil)
	if ev := b.Poll(); ev&poll.Err == 0 {
		t.Errorf("after it %#x", ev)
	}
	want(t, "then", send(b, Addr{}), syscall.ECONNREFUSED)
	want(t, "disconnect", b.Disconnect(), nil)
	n := 0
	for ; n < 1000; n++ {
		want(t, "many", send(a, b.Addr()), nil)
	}
	got := 0
	for ; ; got++ {
		if _, _, err := receive(t, fb, 9); err != nil {
			break
		}
	}
	if most := b.Options().Receive / (overhead + 1); got < most || got > most+1 {
		t.Errorf("%d of %d are kept, room for %d", got, n, most)
	}
}

// TestRefusedDatagramWakes: a waiter on a socket is woken if its datagram finds no receiver,
// whether it waits to read or to write.
func TestRefusedDatagramWakes(t *testing.T) {
	clean(t)
	s, f := inet(t, Datagram)
	want(t, "connect", s.Dial(ip4(1, 9), Cred{}), nil)
	for _, mask := range []poll.Events{poll.In, poll.Out, poll.Err} {
		woken := 0
		w := &poll.Waiter{Mask: mask, Wake: func() { woken++ }}
		s.Queue().Add(w)
		_, err := s.Send(Message{Data: []byte("x")}, nil)
		want(t, "to nobody", err, nil)
		s.Queue().Remove(w)
		if woken == 0 {
			t.Errorf("who waits for %#x is not woken", mask)
		}
		_, _, err = receive(t, f, 9)
		want(t, "read", err, syscall.ECONNREFUSED)
	}
}

// TestPortsUnderPressure: connections are started, accepted and closed, and their listener is
// closed; no port remains in use.
func TestPortsUnderPressure(t *testing.T) {
	clean(t)
	var wg sync.WaitGroup
	for range 100 {
		l := New(abi.AF_INET, Stream, 0)
		listener := socketOf(t, l)
		want(t, "bind", listener.Bind(ip4(1, 0)), nil)
		listener.Listen(0, Cred{})
		a := listener.Addr()
		for range 3 {
			wg.Go(func() {
				c := New(abi.AF_INET, Stream, 0)
				defer c.Close()
				s := socketOf(t, c)
				s.Dial(a, Cred{})
				poll.Many([]poll.Want{{Source: c, Events: poll.Out}}, 2*time.Millisecond, nil)
				s.Dial(a, Cred{})
				c.Poll()
				vfs.Write(c, []byte("x"), nil)
			})
		}
		wg.Go(func() {
			if c, err := listener.Accept(0); err == nil {
				c.Close()
			}
		})
		wg.Go(func() { l.Close() })
	}
	wg.Wait()
	names.mu.Lock()
	defer names.mu.Unlock()
	if n := len(names.ports); n != 0 {
		t.Errorf("%d ports are left", n)
	}
}
