package sock

import (
	"syscall"

	"sonde/kernel/poll"
)

// Send sends m, to a socket other than the one that s is connected to if to is not nil.
// It takes over the data, and returns how much of it is on its way: of a stream, perhaps
// not all. The files are m's if there is no error, and else the caller's as before.
//
// Errors: EAGAIN when there is no room; EPIPE when nothing can be sent any more;
// ENOTCONN, EISCONN, EOPNOTSUPP, EMSGSIZE, ECONNREFUSED, ECONNRESET, EPERM,
// ETOOMANYREFS.
func (s *Socket) Send(m Message, to *Socket) (int, error) {
	if s.Internet() && s.kind == Datagram {
		return s.post(m)
	}
	to, limit, err := s.recipient(&m, to)
	if err != nil {
		return 0, err
	}
	if s.kind == Stream && len(m.Data) == 0 {
		return 0, nil
	}
	if err := register(m.Files); err != nil {
		return 0, err
	}
	n, err := to.take(s, &m, limit)
	if err == syscall.EPIPE && s.Internet() {
		s.reject()
		return len(m.Data), nil
	}
	if err != nil {
		unregister(m.Files)
		s.forsake(to, err)
		return 0, err
	}
	to.queue.Notify(poll.In)
	return n, nil
}

// recipient returns where m goes, and how much that may hold of what s sends.
func (s *Socket) recipient(m *Message, to *Socket) (*Socket, int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case to != nil && s.kind.connects() && s.state == connected:
		return nil, 0, syscall.EISCONN
	case to != nil && s.kind.connects():
		return nil, 0, syscall.EOPNOTSUPP
	case s.err != 0:
		err := s.err
		s.err = 0
		return nil, 0, err
	case s.mute:
		return nil, 0, syscall.EPIPE
	case s.kind != Stream && len(m.Data) > s.opts.Send-32:
		return nil, 0, syscall.EMSGSIZE
	}
	if to == nil {
		to = s.peer
	}
	switch {
	case to == nil && s.state == connecting:
		return nil, 0, syscall.EAGAIN
	case to == nil && s.Internet():
		return nil, 0, syscall.EPIPE
	case to == nil:
		return nil, 0, syscall.ENOTCONN
	}
	m.from = s.addr
	return to, s.opts.Send, nil
}

// take puts m, which from sends, into the inbox of s.
func (s *Socket) take(from *Socket, m *Message, limit int) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.state == closed && s.kind == Datagram:
		return 0, syscall.ECONNREFUSED
	case s.state == closed || s.ended && !s.Internet():
		return 0, syscall.EPIPE
	case s.kind == Datagram && s.peer != nil && s.peer != from:
		return 0, syscall.EPERM
	}
	return s.inbox.add(s.kind, m, limit)
}

// forsake disconnects a datagram socket from one that is gone.
func (s *Socket) forsake(gone *Socket, err error) {
	if err != syscall.ECONNREFUSED {
		return
	}
	if told := s.leave(gone); told != nil {
		gone.room.Remove(told)
	}
}

// leave is forsake; told is a waiter that s has in the other's queue.
func (s *Socket) leave(gone *Socket) (told *poll.Waiter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.peer == gone {
		told = s.told
		s.peer, s.told, s.state = nil, nil, fresh
	}
	return told
}

// Room returns what is ready when to, or what s is connected to, may take something of
// s's; for a connection that waits to be made, when to may take that.
func (s *Socket) Room(to *Socket) poll.Source {
	if to == nil {
		return s
	}
	return roomIn{to, s.Options().Send}
}

type roomIn struct {
	*Socket
	limit int
}

// Poll implements poll.Source.
func (r roomIn) Poll() poll.Events {
	if r.accepts(r.limit) {
		return poll.Out
	}
	return 0
}

// Queue implements poll.Source.
func (r roomIn) Queue() *poll.Queue { return &r.room }

// accepts reports whether it makes sense to try again to send or to connect.
func (s *Socket) accepts(limit int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state == listening {
		return s.ended || len(s.pending) <= s.backlog
	}
	return s.state == closed || s.ended || s.inbox.roomy(s.kind, limit)
}
