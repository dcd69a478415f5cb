package sock

import (
	"syscall"

	"sonde/kernel/poll"
)

// direct sets the address that a datagram socket of the Internet sends to and receives from. There
// need not be a socket at that address.
//
// Errors: ENETUNREACH, EADDRNOTAVAIL. Context: binding held.
func (s *Socket) direct(a Addr) error {
	a, err := a.target()
	if err != nil {
		return err
	}
	if err := s.choosePort(a.local()); err != nil {
		return err
	}
	s.aimAt(a)
	return nil
}

// aimAt is direct; the zero Addr means any address. Context: binding held.
func (s *Socket) aimAt(a Addr) {
	s.update(func() {
		s.dest, s.state = a, fresh
		if a != (Addr{}) {
			s.state = connected
		}
	})
	from := s.Addr()
	names.mu.Lock()
	defer names.mu.Unlock()
	if c := s.claimed(from); c != nil {
		c.peer = a
	}
}

// post sends a datagram of the Internet. It is lost if the receiver has no space. If there is no
// receiver, a connected sender gets an error.
//
// Errors: EPIPE, EDESTADDRREQ, EMSGSIZE, EINVAL without a port, ENETUNREACH, EADDRNOTAVAIL;
// ECONNREFUSED for an earlier one.
func (s *Socket) post(m Message) (int, error) {
	to, err := s.destination(&m)
	if err != nil {
		return 0, err
	}
	if to, err = to.target(); err != nil {
		return 0, err
	}
	if m.from, err = s.sender(to); err != nil {
		return 0, err
	}
	n := len(m.Data)
	r, err := s.best(to, func(c *claim) int {
		switch c.peer {
		case Addr{}:
			return 1
		case m.from:
			return 2
		}
		return 0
	})
	if err != nil {
		s.unanswered(to)
		return n, nil
	}
	r.deliver(&m)
	return n, nil
}

// destination returns the address that m is sent to.
func (s *Socket) destination(m *Message) (Addr, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	to := m.To
	if to == (Addr{}) {
		to = s.dest
	}
	switch {
	case s.state == closed:
		return to, syscall.EBADF
	case s.err != 0:
		err := s.err
		s.err = 0
		return to, err
	case s.mute:
		return to, syscall.EPIPE
	case to == Addr{}:
		return to, syscall.EDESTADDRREQ
	case len(m.Data) > mostUDP:
		return to, syscall.EMSGSIZE
	case to.Port == 0:
		return to, syscall.EINVAL
	}
	return to, nil
}

// sender returns the address that s sends from.
//
// Errors: EADDRNOTAVAIL, EBADF.
func (s *Socket) sender(to Addr) (Addr, error) {
	s.binding.Lock()
	defer s.binding.Unlock()
	if s.stage() == closed {
		return Addr{}, syscall.EBADF
	}
	a := s.Addr()
	if a.Port == 0 {
		if err := s.choosePort(a.IP); err != nil {
			return a, err
		}
		a = s.Addr()
	}
	if a.any() {
		a.IP = to.local()
	}
	return a, nil
}

// unanswered records that there is no socket at that address.
func (s *Socket) unanswered(to Addr) {
	hears := false
	s.update(func() {
		if hears = s.dest == to; hears {
			s.err = syscall.ECONNREFUSED
		}
	})
	if hears {
		s.queue.Notify(poll.Err | poll.In | poll.Out)
	}
}

// deliver puts m into the inbox of s, if there is space.
func (s *Socket) deliver(m *Message) {
	var err error
	s.update(func() {
		if s.state == closed || s.ended || s.dest != (Addr{}) && s.dest != m.from {
			err = syscall.ECONNREFUSED
			return
		}
		_, err = s.inbox.add(s.kind, m, s.opts.Receive)
	})
	if err == nil {
		s.queue.Notify(poll.In)
	}
}
