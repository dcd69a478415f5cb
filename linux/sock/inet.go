package sock

import (
	"syscall"
	"time"

	"sonde/kernel/abi"
	"sonde/kernel/lock"
)

// Sockets of AF_INET and AF_INET6 reach only this machine: there is no device, no packet and no
// protocol. The addresses are 127.0.0.0/8 and ::1; a stream works like one of AF_UNIX, and a
// datagram goes into the inbox of the socket that has its port.
//
// Source: man ip(7), ipv6(7), tcp(7), udp(7); RFC 9293 §3.10.

// mostUDP is the largest size of a datagram in bytes, as in IPv4.
const mostUDP = 65507

// How long and how often a connection is retried while too many connections wait to be accepted.
const (
	firstTry  = 10 * time.Millisecond
	tryPause  = time.Second
	connectIn = 127 * time.Second
)

// Internet reports whether s has an IP address and a port.
func (s *Socket) Internet() bool { return s.family == abi.AF_INET || s.family == abi.AF_INET6 }

// any reports whether a means all addresses of the machine.
func (a Addr) any() bool { return a.IP == [16]byte{} }

// local returns the loopback address of a's family.
func (a Addr) local() [16]byte {
	if a.Family == abi.AF_INET6 {
		return [16]byte{15: 1}
	}
	return [16]byte{127, 0, 0, 1}
}

// here reports whether a is an address of this machine.
func (a Addr) here() bool {
	if a.Family == abi.AF_INET6 {
		return a.any() || a.IP == a.local()
	}
	return a.any() || a.IP[0] == 127
}

// target returns the address that receives data sent to a.
//
// Errors: ENETUNREACH.
func (a Addr) target() (Addr, error) {
	if !a.here() {
		return a, syscall.ENETUNREACH
	}
	if a.any() {
		a.IP = a.local()
	}
	return a, nil
}

// flagged reports whether the program has set an option of SOL_SOCKET.
func (o *Options) flagged(name uint64) bool { return o.Kept[Option(abi.SOL_SOCKET, name)] != 0 }

// Option is the number of an option in Options.Kept.
func Option(level, name uint64) uint64 { return level<<32 | name&0xffffffff }

// Dial starts to connect s, or returns the outcome of a connection that was started before: the
// caller waits for poll.Out and calls it again. A datagram socket is connected at once.
//
// Errors: EINPROGRESS, EALREADY, EISCONN, ECONNREFUSED, ECONNABORTED, ETIMEDOUT, ENETUNREACH,
// EADDRNOTAVAIL; EINVAL for a socket that listens; EBADF.
func (s *Socket) Dial(a Addr, cred Cred) error {
	s.binding.Lock()
	defer s.binding.Unlock()
	if s.stage() == closed {
		return syscall.EBADF
	}
	if s.kind == Datagram {
		return s.direct(a)
	}
	if told, err := s.outcome(); told {
		return err
	}
	a, err := a.target()
	if err != nil {
		return err
	}
	if err := s.choosePort(a.local()); err != nil {
		return err
	}
	s.update(func() {
		if s.state == fresh {
			s.state = connecting
		}
	})
	s.attempt(a, cred, firstTry, time.Now().Add(connectIn))
	return syscall.EINPROGRESS
}

// outcome returns the outcome of a connection once. told is false if s can start one.
func (s *Socket) outcome() (told bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.state == connecting:
		return true, syscall.EALREADY
	case s.dialled == succeeded:
		s.dialled = 0
		return true, nil
	case s.dialled == failed:
		err := s.err
		if err == 0 {
			err = syscall.ECONNABORTED // SO_ERROR has returned the reason
		}
		s.dialled, s.err, s.ended, s.mute = 0, 0, false, false
		return true, err
	}
	err = s.connectableNow()
	return err != nil, err
}

// attempt connects s to a, or tries again after a pause if too many connections wait there.
func (s *Socket) attempt(a Addr, cred Cred, pause time.Duration, until time.Time) {
	if s.stage() != connecting {
		return
	}
	to, err := s.listener(a)
	if err == nil {
		err = s.reach(to, a, cred)
	}
	switch {
	case err == nil:
	case err == syscall.EAGAIN && time.Now().Before(until):
		time.AfterFunc(pause, func() { s.attempt(a, cred, min(2*pause, tryPause), until) })
	case err == syscall.EAGAIN:
		s.miss(syscall.ETIMEDOUT)
	default:
		s.miss(syscall.ECONNREFUSED)
	}
}

func (s *Socket) stage() state { return lock.Get(&s.mu, &s.state) }

// miss records that connecting failed.
func (s *Socket) miss(why syscall.Errno) {
	s.update(func() {
		if s.state == connecting {
			s.state, s.dialled, s.err, s.ended, s.mute = fresh, failed, why, true, true
		}
	})
	s.queue.Notify(all)
}

// choosePort gives s a free port if it has none, and the address ip if it has none.
//
// Errors: EADDRNOTAVAIL if no port is free.
func (s *Socket) choosePort(ip [16]byte) error {
	a := s.Addr()
	if a.Port == 0 {
		var err error
		if a, err = s.claim(Addr{Family: s.family, IP: a.IP}); err != nil {
			return syscall.EADDRNOTAVAIL
		}
	}
	if a.any() {
		a.IP = ip
	}
	s.update(func() { s.addr = a })
	s.readdress(a)
	return nil
}

// reject handles a stream of the Internet that sends to a closed end: the first call succeeds,
// because the reset is still on its way.
func (s *Socket) reject() {
	s.update(func() { s.ended, s.mute, s.err = true, true, syscall.EPIPE })
	s.queue.Notify(all)
}

// resets reports whether closing s discards data that is on its way.
func (s *Socket) resets() bool {
	o := s.Options()
	return s.Internet() && o.Linger.On != 0 && o.Linger.Seconds == 0
}

// inherit gives a connection the options of the listening socket.
func (s *Socket) inherit(from Options) {
	if s.Internet() {
		s.Change(func(o *Options) { *o = from })
		return
	}
	s.Change(func(o *Options) { o.PassCred = from.PassCred })
}
