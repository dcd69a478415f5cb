package syscall

import (
	"maps"
	sys "syscall"
	"time"

	"sonde/kernel/abi"
	"sonde/linux/proc"
	"sonde/linux/sock"
)

// keeps is an option without effect on sockets of this machine: a program reads the value that it
// has set.
type keeps struct {
	flag        bool // any value but 0 becomes 1
	first       int32
	least, most int32 // the allowed range, if most is not 0
}

// onOff is an option that is on or off.
var onOff = keeps{flag: true}

// kept are the options without effect, by sock.Option.
var kept = map[uint64]keeps{
	of(abi.SOL_SOCKET, abi.SO_DEBUG): onOff, of(abi.SOL_SOCKET, abi.SO_REUSEADDR): onOff, of(abi.SOL_SOCKET, abi.SO_DONTROUTE): onOff,
	of(abi.SOL_SOCKET, abi.SO_BROADCAST): onOff, of(abi.SOL_SOCKET, abi.SO_KEEPALIVE): onOff, of(abi.SOL_SOCKET, abi.SO_OOBINLINE): onOff,
	of(abi.SOL_SOCKET, abi.SO_PRIORITY): {}, of(abi.SOL_SOCKET, abi.SO_REUSEPORT): onOff, of(abi.SOL_SOCKET, abi.SO_RCVLOWAT): {},
	of(abi.SOL_SOCKET, abi.SO_TIMESTAMP): onOff,

	of(abi.IPPROTO_IP, abi.IP_TOS): {}, of(abi.IPPROTO_IP, abi.IP_TTL): {first: 64, least: 1, most: 255},
	of(abi.IPPROTO_IP, abi.IP_MTU_DISCOVER): {first: 1, least: 0, most: 5}, of(abi.IPPROTO_IP, abi.IP_RECVERR): onOff,

	of(abi.IPPROTO_IPV6, abi.IPV6_UNICAST_HOPS): {first: 64, least: -1, most: 255}, of(abi.IPPROTO_IPV6, abi.IPV6_RECVERR): onOff,
	of(abi.IPPROTO_IPV6, abi.IPV6_V6ONLY): onOff, of(abi.IPPROTO_IPV6, abi.IPV6_TCLASS): {},

	of(abi.IPPROTO_TCP, abi.TCP_NODELAY): onOff, of(abi.IPPROTO_TCP, abi.TCP_CORK): onOff,
	of(abi.IPPROTO_TCP, abi.TCP_QUICKACK): {flag: true, first: 1}, of(abi.IPPROTO_TCP, abi.TCP_MAXSEG): {first: 536, least: 88, most: 32767},
	of(abi.IPPROTO_TCP, abi.TCP_KEEPIDLE):  {first: 7200, least: 1, most: 32767},
	of(abi.IPPROTO_TCP, abi.TCP_KEEPINTVL): {first: 75, least: 1, most: 32767},
	of(abi.IPPROTO_TCP, abi.TCP_KEEPCNT):   {first: 9, least: 1, most: 127},
	of(abi.IPPROTO_TCP, abi.TCP_SYNCNT):    {first: 6, least: 1, most: 127}, of(abi.IPPROTO_TCP, abi.TCP_LINGER2): {first: 60},
	of(abi.IPPROTO_TCP, abi.TCP_USER_TIMEOUT): {least: 0, most: 1<<31 - 1},
}

// of is the number of an option.
func of(level, name uint64) uint64 { return sock.Option(level, name) }

// level checks that s has options of that level.
//
// Errors: EOPNOTSUPP, ENOPROTOOPT.
func level(s *sock.Socket, n int) error {
	switch {
	case n == abi.SOL_SOCKET:
	case !s.Internet():
		return sys.EOPNOTSUPP
	case n == abi.IPPROTO_TCP && s.Kind() == sock.Stream, n == abi.IPPROTO_UDP && s.Kind() == sock.Datagram:
	case n == abi.IPPROTO_IP, n == abi.IPPROTO_IPV6 && s.Family() == abi.AF_INET6:
	default:
		return sys.ENOPROTOOPT
	}
	return nil
}

func getsockopt(t *proc.Thread, s *sock.Socket, a *Args) (uint64, error) {
	room, err := get[int32](t, a[4])
	if err == nil {
		err = level(s, asInt(a[1]))
	}
	if err == sys.ENOPROTOOPT && s.Family() == abi.AF_INET {
		err = sys.EOPNOTSUPP // as in Linux, where setsockopt and AF_INET6 say the other
	}
	switch {
	case err != nil:
		return 0, err
	case room < 0:
		return 0, sys.EINVAL
	}
	value, err := option(s, of(a[1], a[2]))
	if err != nil {
		return 0, err
	}
	value = value[:min(len(value), int(room))]
	if err := t.Memory().Out(a[3], value); err != nil {
		return 0, err
	}
	return 0, put(t, a[4], int32(len(value)))
}

// option returns the value of an option as a program sees it.
//
// Errors: ENOPROTOOPT.
func option(s *sock.Socket, name uint64) ([]byte, error) {
	o := s.Options()
	var n int32
	if name>>32 != abi.SOL_SOCKET {
		return keptOption(o, name)
	}
	switch name &= 0xffffffff; name {
	case abi.SO_LINGER:
		return abi.Bytes(&o.Linger), nil
	case abi.SO_RCVTIMEO:
		return timeBytes(o.ReceiveTime), nil
	case abi.SO_SNDTIMEO:
		return timeBytes(o.SendTime), nil
	case abi.SO_PEERCRED:
		c, ok := s.Other()
		if !ok {
			c = sock.Cred{UID: ^uint32(0), GID: ^uint32(0)}
		}
		return abi.Bytes(&c), nil
	case abi.SO_TYPE:
		n = int32(s.Kind())
	case abi.SO_DOMAIN:
		n = int32(s.Family())
	case abi.SO_PROTOCOL:
		n = protocolOf(s)
	case abi.SO_ERROR:
		n = int32(s.Err())
	case abi.SO_ACCEPTCONN:
		n = int32(b2u(s.Listening()))
	case abi.SO_PASSCRED:
		n = int32(b2u(o.PassCred))
	case abi.SO_SNDBUF:
		n = int32(o.Send)
	case abi.SO_RCVBUF:
		n = int32(o.Receive)
	case abi.SO_SNDLOWAT:
		n = 1
	case abi.SO_RCVLOWAT:
		n = max(1, o.Kept[of(abi.SOL_SOCKET, name)])
	default:
		return keptOption(o, of(abi.SOL_SOCKET, name))
	}
	return abi.Bytes(&n), nil
}

// keptOption returns the value that was set.
//
// Errors: ENOPROTOOPT.
func keptOption(o sock.Options, name uint64) ([]byte, error) {
	k, ok := kept[name]
	if !ok {
		return nil, sys.ENOPROTOOPT
	}
	n, ok := o.Kept[name]
	if !ok {
		n = k.first
	}
	return abi.Bytes(&n), nil
}

func timeBytes(d time.Duration) []byte {
	tv := abi.TimevalOf(d)
	return abi.Bytes(&tv)
}

func setsockopt(t *proc.Thread, s *sock.Socket, a *Args) (uint64, error) {
	size := asInt(a[4])
	switch {
	case size < 0:
		return 0, sys.EINVAL
	case level(s, asInt(a[1])) != nil:
		return 0, level(s, asInt(a[1]))
	case size < 4:
		return 0, sys.EINVAL
	}
	n, err := get[int32](t, a[3])
	if err != nil {
		return 0, err
	}
	if asInt(a[1]) != abi.SOL_SOCKET {
		return done(keep(s, of(a[1], a[2]), n))
	}
	switch name := a[2] & 0xffffffff; name {
	case abi.SO_LINGER:
		return done(setLinger(t, s, a[3], size))
	case abi.SO_RCVTIMEO, abi.SO_SNDTIMEO:
		return done(setSocketTime(t, s, name, a[3], size))
	default:
		return done(setNumber(s, name, n))
	}
}

func setLinger(t *proc.Thread, s *sock.Socket, addr uint64, size int) error {
	if size < 8 {
		return sys.EINVAL
	}
	l, err := get[abi.Linger](t, addr)
	if err == nil {
		s.Change(func(o *sock.Options) { o.Linger = l })
	}
	return err
}

// setSocketTime sets the timeout of calls.
//
// Errors: EINVAL, EDOM, EFAULT.
func setSocketTime(t *proc.Thread, s *sock.Socket, name, addr uint64, size int) error {
	if size < 16 {
		return sys.EINVAL
	}
	tv, err := get[abi.Timeval](t, addr)
	switch {
	case err != nil:
		return err
	case tv.Usec < 0 || tv.Usec >= 1000000:
		return sys.EDOM
	}
	limit := max(tv.Duration(), 0)
	if tv.Sec < 0 {
		limit = time.Nanosecond // the timeout is over at once
	}
	s.Change(func(o *sock.Options) {
		if name == abi.SO_SNDTIMEO {
			o.SendTime = limit
		} else {
			o.ReceiveTime = limit
		}
	})
	return nil
}

// setNumber sets an option that is a number.
//
// Errors: ENOPROTOOPT.
func setNumber(s *sock.Socket, name uint64, n int32) error {
	switch name {
	case abi.SO_TYPE, abi.SO_ERROR, abi.SO_DOMAIN, abi.SO_PROTOCOL, abi.SO_ACCEPTCONN, abi.SO_PEERCRED, abi.SO_SNDLOWAT:
		return sys.ENOPROTOOPT
	case abi.SO_PASSCRED:
		s.Change(func(o *sock.Options) { o.PassCred = n != 0 })
	case abi.SO_SNDBUF, abi.SO_SNDBUFFORCE:
		s.Change(func(o *sock.Options) { o.SetSend(n) })
	case abi.SO_RCVBUF, abi.SO_RCVBUFFORCE:
		s.Change(func(o *sock.Options) { o.SetReceive(n) })
	default:
		return keep(s, of(abi.SOL_SOCKET, name), n)
	}
	return nil
}

// keep sets an option that has no effect.
//
// Errors: ENOPROTOOPT, EINVAL.
func keep(s *sock.Socket, name uint64, n int32) error {
	k, ok := kept[name]
	switch {
	case !ok:
		return sys.ENOPROTOOPT
	case k.most != 0 && (n < k.least || n > k.most):
		return sys.EINVAL
	case k.flag && n != 0:
		n = 1
	}
	s.Change(func(o *sock.Options) {
		all := maps.Clone(o.Kept)
		if all == nil {
			all = map[uint64]int32{}
		}
		all[name] = n
		o.Kept = all
	})
	return nil
}
