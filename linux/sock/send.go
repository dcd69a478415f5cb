package sock

import (
	"syscall"

	"sonde/kernel/poll"
)

// Send sends m; if to is not nil, to that socket instead of the one that s is connected to. It
// takes over the data, and returns how many bytes it sent: of a stream, perhaps not all. If there
// is no error the message owns the files; otherwise the caller keeps them.
//
// Errors: EAGAIN if there is no space; EPIPE if nothing can be sent any more; ENOTCONN, EISCONN,
// EOPNOTSUPP, EMSGSIZE, ECONNREFUSED, ECONNRESET, EPERM, ETOOMANYREFS.
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
		s.disconnectFrom(to, err)
		return 0, err
	}
	to.queue.Notify(poll.In)
	return n, nil
}

// recipient returns the socket that receives m, and how much it may hold from s.
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

// take puts m, sent by from, into the inbox of s.
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

// disconnectFrom ends the connection of a datagram socket to a closed one.
func (s *Socket) disconnectFrom(gone *Socket, err error) {
	if err != syscall.ECONNREFUSED {
		return
	}
	if told := s.leave(gone); told != nil {
		gone.room.Remove(told)
	}
}

// leave is disconnectFrom; told is the waiter that s has in the other's queue.
func (s *Socket) leave(gone *Socket) (told *poll.Waiter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.peer == gone {
		told = s.told
		s.peer, s.told, s.state = nil, nil, fresh
	}
	return told
}

// Room returns a source that is ready when to, or the socket that s is connected to, may take data
// from s; for a connection that is being made, when to may take the connection.
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

// accepts reports whether retrying to send or to connect makes sense.
func (s *Socket) accepts(limit int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state == listening {
		return s.ended || len(s.pending) <= s.backlog
	}
	return s.state == closed || s.ended || s.inbox.roomy(s.kind, limit)
}
