package sock

import (
	"sync/atomic"
	"syscall"

	"sonde/kernel/poll"
	"sonde/kernel/vfs"
)

// join makes s an end of a connection with peer; cred is the peer's owner.
func (s *Socket) join(peer *Socket, cred Cred) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state, s.peer, s.other = connected, peer, cred
}

// Listen lets others connect. backlog is how many connections may wait to be accepted.
//
// Errors: EOPNOTSUPP for datagrams; EINVAL without a name, or if it is connected; EADDRINUSE if
// another socket listens at that port.
func (s *Socket) Listen(backlog int, cred Cred) error {
	s.binding.Lock()
	defer s.binding.Unlock()
	err := s.prepare()
	if err == nil {
		err = s.listen(backlog, cred)
	}
	if err == nil {
		s.room.Notify(poll.Out)
	}
	return err
}

// prepare gives a socket of the Internet the port to which others connect.
func (s *Socket) prepare() error {
	if !s.Internet() || !s.kind.connects() {
		return nil
	}
	if now := s.stage(); now != fresh && now != listening {
		return syscall.EINVAL
	}
	if err := s.choosePort(s.Addr().IP); err != nil {
		return err
	}
	return s.opens(s.Addr())
}

func (s *Socket) listen(backlog int, cred Cred) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !s.kind.connects():
		return syscall.EOPNOTSUPP
	case s.addr == Addr{} || s.state != fresh && s.state != listening:
		return syscall.EINVAL
	}
	s.state, s.cred, s.backlog = listening, cred, min(max(backlog, 0), mostBacklog)
	return nil
}

// mostBacklog is net.core.somaxconn; mostWaiting is how many connections may wait at all sockets
// together: their other ends may be closed, so no limit of descriptors counts them.
const (
	mostBacklog = 4096
	mostWaiting = 16 << 10
)

// waiting is how many connections wait to be accepted.
var waiting atomic.Int64

// Connect connects s to another socket, which must listen unless it is for datagrams.
//
// Errors: EAGAIN while too many connections wait to be accepted there, ENFILE if too many do so
// anywhere; ECONNREFUSED, EPROTOTYPE; EISCONN, EINVAL for a socket that listens; EPERM.
func (s *Socket) Connect(to *Socket, cred Cred) error {
	if to.family != s.family || to.kind != s.kind {
		return syscall.EPROTOTYPE
	}
	if !s.kind.connects() {
		return s.aim(to)
	}
	s.binding.Lock()
	defer s.binding.Unlock()
	if err := s.connectable(); err != nil {
		return err
	}
	return s.reach(to, to.Addr(), cred)
}

// reach connects s to one that listens; a is the address of the other end.
//
// Errors: EAGAIN, ENFILE, ECONNREFUSED.
func (s *Socket) reach(to *Socket, a Addr, cred Cred) error {
	end := newSocket(s.family, s.kind)
	end.join(s, cred)
	end.addr = a // nothing else refers to it yet
	owner, err := to.enqueue(end)
	if err != nil {
		delist(end)
		return err
	}
	if !s.meet(end, owner) {
		end.lose(true)
	}
	to.queue.Notify(poll.In)
	s.queue.Notify(all)
	return nil
}

// connectable refuses a socket that is not new.
func (s *Socket) connectable() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.connectableNow()
}

// connectableNow is connectable. Context: mu held.
func (s *Socket) connectableNow() error {
	switch s.state {
	case fresh:
		return nil
	case connected:
		return syscall.EISCONN
	}
	return syscall.EINVAL
}

// enqueue adds end to the connections that wait to be accepted, and returns the listening socket's
// owner.
func (s *Socket) enqueue(end *Socket) (Cred, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.state != listening || s.ended:
		return Cred{}, syscall.ECONNREFUSED
	case len(s.pending) > s.backlog:
		return Cred{}, syscall.EAGAIN
	}
	if waiting.Add(1) > mostWaiting {
		waiting.Add(-1)
		return Cred{}, syscall.ENFILE
	}
	s.pending = append(s.pending, end)
	return s.cred, nil
}

// meet makes end the other end of s, if s is still open.
func (s *Socket) meet(end *Socket, owner Cred) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state != fresh && s.state != connecting {
		return false
	}
	if s.state == connecting {
		s.dialled = succeeded
	}
	s.state, s.peer, s.other = connected, end, owner
	return true
}

// aim sets the socket that a datagram socket sends to and receives from; nil: none.
//
// Errors: EPERM if that socket receives from another one only; EBADF.
func (s *Socket) aim(to *Socket) error {
	s.binding.Lock()
	defer s.binding.Unlock()
	if s.stage() == closed {
		return syscall.EBADF
	}
	if to != nil && to != s {
		if p := to.partner(); p != nil && p != s {
			return syscall.EPERM
		}
	}
	if old, told := s.turn(to); told != nil {
		old.room.Remove(told)
	}
	s.queue.Notify(all)
	return nil
}

// turn is aim, and returns the previous socket and the waiter in its queue.
func (s *Socket) turn(to *Socket) (old *Socket, told *poll.Waiter) {
	w := &poll.Waiter{Mask: poll.Out, Wake: func() { s.queue.Notify(poll.Out) }}
	if to != nil {
		to.room.Add(w)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	old, told = s.peer, s.told
	s.peer, s.told, s.state = to, nil, fresh
	if to != nil {
		s.told, s.state = w, connected
	}
	return old, told
}

// Disconnect ends the connection of a datagram socket.
//
// Errors: EINVAL for other kinds; EBADF.
func (s *Socket) Disconnect() error {
	if s.kind.connects() {
		return syscall.EINVAL
	}
	if !s.Internet() {
		return s.aim(nil)
	}
	s.binding.Lock()
	defer s.binding.Unlock()
	if s.stage() == closed {
		return syscall.EBADF
	}
	s.aimAt(Addr{})
	return nil
}

// Accept returns the first waiting connection as an open file. flag is O_NONBLOCK or 0.
//
// Errors: EAGAIN if none waits; EINVAL if s does not listen; EOPNOTSUPP for datagrams.
func (s *Socket) Accept(flag int) (*vfs.File, error) {
	c, err := s.dequeue()
	if err != nil {
		return nil, err
	}
	c.inherit(s.Options())
	s.room.Notify(poll.Out)
	return c.open(flag), nil
}

func (s *Socket) dequeue() (*Socket, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !s.kind.connects():
		return nil, syscall.EOPNOTSUPP
	case s.state == closed:
		return nil, syscall.EBADF
	case s.state != listening:
		return nil, syscall.EINVAL
	case len(s.pending) > 0:
		c := s.pending[0]
		s.pending = s.pending[1:]
		waiting.Add(-1)
		return c, nil
	case s.ended:
		return nil, syscall.EINVAL
	}
	return nil, syscall.EAGAIN
}

// Shutdown ends receiving, sending or both. The other end is told; a socket of the Internet is told
// only that no more bytes will arrive.
//
// Errors: ENOTCONN for a socket of the Internet.
func (s *Socket) Shutdown(in, out bool) error {
	peer := s.partner()
	if now := s.stage(); s.Internet() && now != connected && now != listening {
		return syscall.ENOTCONN
	}
	s.update(func() {
		s.ended = s.ended || in
		s.mute = s.mute || out
	})
	s.queue.Notify(all)
	s.room.Notify(all)
	if peer == nil || !s.kind.connects() {
		return nil
	}
	peer.update(func() {
		peer.ended = peer.ended || out
		peer.mute = peer.mute || in && !s.Internet()
	})
	peer.queue.Notify(all)
	return nil
}
