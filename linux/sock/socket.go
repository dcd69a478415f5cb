package sock

import (
	"io"
	"io/fs"
	"sync"
	"syscall"
	"time"

	"sonde/kernel/abi"
	"sonde/kernel/lock"
	"sonde/kernel/poll"
	"sonde/kernel/vfs"
)

// Sizes of buffers in bytes, as in Linux.
const (
	defaultBuffer = 212992
	leastSend     = 4608
	leastReceive  = 2304

	scarce = 4096 // limit of an inbox if all together hold too much
)

// state is how far a socket has come.
type state uint8

const (
	fresh state = iota
	listening
	connecting // of AF_INET and AF_INET6
	connected
	closed
)

// Socket is one end of a connection, or a socket that listens.
type Socket struct {
	vfs.Anonymous
	vfs.Stream
	family uint16
	kind   Kind

	queue poll.Queue // waiters for this socket
	room  poll.Queue // waiters for space in this socket

	binding sync.Mutex // held while it gets a name, or is closed
	reading sync.Mutex // held while a receiver copies data

	mu sync.Mutex
	// guarded by mu:
	state   state
	addr    Addr
	file    *Name // the file of addr in the tree of names
	peer    *Socket
	told    *poll.Waiter // of a datagram socket, in peer.room
	inbox   inbox
	ended   bool          // no more data will arrive
	mute    bool          // no more data can be sent
	err     syscall.Errno // reported once
	backlog int
	pending []*Socket // connections that are not accepted yet
	cred    Cred      // of the listening socket's owner
	other   Cred      // of the owner of the other end
	opts    Options
	dest    Addr     // of a datagram socket of the Internet that is connected
	dialled progress // of a stream of the Internet
}

// progress is the state of a connect that has not been reported yet.
type progress uint8

const (
	succeeded progress = iota + 1
	failed
)

// newSocket returns a socket without a descriptor.
func newSocket(family uint16, kind Kind) *Socket {
	s := &Socket{family: family, kind: kind, opts: Options{Send: defaultBuffer, Receive: defaultBuffer}}
	s.Anonymous = vfs.NewAnonymous(fs.ModeSocket | 0777)
	s.inbox.deep = s.Internet()
	enlist(s)
	return s
}

// New returns a socket as an open file. flag is O_NONBLOCK or 0.
func New(family uint16, kind Kind, flag int) *vfs.File { return newSocket(family, kind).open(flag) }

// Pair returns two connected sockets as open files.
func Pair(family uint16, kind Kind, cred Cred, flag int) (a, b *vfs.File) {
	x, y := newSocket(family, kind), newSocket(family, kind)
	x.join(y, cred)
	y.join(x, cred)
	if kind == Datagram {
		x.turn(y)
		y.turn(x)
	}
	return x.open(flag), y.open(flag)
}

// open makes an open file of s.
func (s *Socket) open(flag int) *vfs.File {
	return vfs.NewFile(s.Name("socket"), s, s, vfs.O_RDWR|flag&vfs.O_NONBLOCK)
}

// Of returns the socket of f.
//
// Errors: ENOTSOCK.
func Of(f *vfs.File) (*Socket, error) {
	if s, ok := f.Handle().(*Socket); ok {
		return s, nil
	}
	return nil, syscall.ENOTSOCK
}

// Family returns the first argument of socket(2), Kind the second.
func (s *Socket) Family() uint16 { return s.family }
func (s *Socket) Kind() Kind     { return s.kind }

// ReadAt implements vfs.Handle. Files that came with the data are closed.
func (s *Socket) ReadAt(p []byte, _ int64) (int, error) {
	r, err := s.Receive(Want{Len: len(p), Put: func(off int, b []byte) (int, error) { return copy(p[off:], b), nil }})
	CloseAll(r.Files)
	if err == nil && r.N == 0 && s.kind == Stream {
		return 0, io.EOF
	}
	return r.N, err
}

// WriteAt implements vfs.Handle.
func (s *Socket) WriteAt(p []byte, _ int64) (int, error) {
	return s.Send(Message{Data: append([]byte(nil), p...)}, nil)
}

// Queue implements poll.Source.
func (s *Socket) Queue() *poll.Queue { return &s.queue }

// Poll implements poll.Source.
func (s *Socket) Poll() poll.Events {
	ev, peer, limit := s.pollOwn()
	if ev&poll.Out != 0 && peer != nil && !peer.roomy(limit) {
		ev &^= poll.Out
	}
	return ev
}

// pollOwn is the events that depend on s only; the caller asks peer for space in its inbox.
func (s *Socket) pollOwn() (ev poll.Events, peer *Socket, limit int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch s.state {
	case closed:
		return poll.In | poll.Out | poll.Err | poll.Hup, nil, 0
	case connecting:
		return 0, nil, 0
	case listening:
		if len(s.pending) > 0 || s.ended {
			ev = poll.In
		}
		return ev, nil, 0
	case fresh:
		if s.kind.connects() {
			ev = poll.Hup
		}
	}
	if s.err != 0 {
		ev |= poll.Err
	}
	if len(s.inbox.messages) > 0 {
		ev |= poll.In
	}
	if s.ended {
		ev |= poll.In | poll.RdHup
		if s.mute {
			ev |= poll.Hup
		}
	}
	return ev | poll.Out, s.peer, s.opts.Send
}

// roomy reports whether to tell a sender with that limit that there is space.
func (s *Socket) roomy(limit int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state == closed || s.ended || s.inbox.roomy(s.kind, limit)
}

// Buffered returns how many bytes can be read, for FIONREAD: for messages, the length of the first.
func (s *Socket) Buffered() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kind == Stream {
		return s.inbox.bytes
	}
	if len(s.inbox.messages) == 0 {
		return 0
	}
	return len(s.inbox.messages[0].Data)
}

// partner returns the other end, nil for none.
func (s *Socket) partner() *Socket { return lock.Get(&s.mu, &s.peer) }

// Close implements vfs.Handle.
func (s *Socket) Close() error {
	delist(s)
	reset := s.resets()
	rest := s.end()
	s.queue.Notify(all)
	s.room.Notify(all)
	for _, c := range rest.pending {
		delist(c)
		c.end().tell(c, true)
	}
	rest.tell(s, reset)
	collect()
	return nil
}

// LetGo implements vfs.Shared: only messages may still hold s.
func (s *Socket) LetGo() { collect() }

// all is the events that the end of a socket may cause at others.
const all = poll.In | poll.Out | poll.RdHup | poll.Err | poll.Hup

// remains is what a closed socket leaves to clean up.
type remains struct {
	peer    *Socket
	told    *poll.Waiter
	unread  []*Message
	pending []*Socket
}

// end removes everything from s. A call that gives s a name at the same time comes before, or finds
// it closed.
func (s *Socket) end() remains {
	s.binding.Lock()
	defer s.binding.Unlock()
	s.unname()
	s.mu.Lock()
	defer s.mu.Unlock()
	r := remains{s.peer, s.told, s.inbox.empty(), s.pending}
	waiting.Add(-int64(len(s.pending)))
	s.state, s.peer, s.told, s.pending = closed, nil, nil, nil
	return r
}

// tell tells the other end that s is closed, and discards unread messages. reset says that the
// connection is broken: for example, it was never accepted.
func (r remains) tell(s *Socket, reset bool) {
	if r.told != nil {
		r.peer.room.Remove(r.told)
	}
	if r.peer != nil && s.kind.connects() {
		r.peer.lose(reset || len(r.unread) > 0)
	}
	discard(r.unread)
}

// lose records that the other end is closed, with unread data or without.
func (s *Socket) lose(unread bool) {
	s.update(func() {
		s.ended = true
		s.mute = unread || !s.Internet() || s.mute
		if unread {
			s.err = syscall.ECONNRESET
		}
	})
	s.queue.Notify(all)
}

// update runs f under mu.
func (s *Socket) update(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// Options are the values of setsockopt and getsockopt. Those without effect on this machine are in
// Kept.
type Options struct {
	Send, Receive         int // sizes of buffers, in bytes
	PassCred              bool
	SendTime, ReceiveTime time.Duration // 0: for ever
	Linger                abi.Linger
	Kept                  map[uint64]int32 // by Option
}

// Options returns a copy of the options.
func (s *Socket) Options() Options { return lock.Get(&s.mu, &s.opts) }

// Change changes options. What Kept refers to must be replaced, not changed.
func (s *Socket) Change(f func(o *Options)) { s.update(func() { f(&s.opts) }) }

// SetSend sets the size of the send buffer to twice what a program asks for, within bounds;
// SetReceive does the same for the receive buffer.
func (o *Options) SetSend(asked int32)    { o.Send = max(twice(asked), leastSend) }
func (o *Options) SetReceive(asked int32) { o.Receive = max(twice(asked), leastReceive) }

func twice(asked int32) int { return int(min(uint32(asked), defaultBuffer)) * 2 }

// Err returns the pending error, and clears it.
func (s *Socket) Err() syscall.Errno {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.err
	s.err = 0
	return err
}

// Listening reports whether others can connect to s.
func (s *Socket) Listening() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state == listening
}

// Other returns the owner of the other end: the process that listened, connected or made the pair.
func (s *Socket) Other() (c Cred, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.other, s.state == connected
}
