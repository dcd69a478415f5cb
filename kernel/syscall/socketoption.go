package syscall

import (
	"maps"
	sys "syscall"
	"time"

	"sonde/kernel/abi"
	"sonde/kernel/proc"
	"sonde/kernel/vfs/sock"
)

// kept are the options that have no effect on sockets of this machine: a program reads
// what it has set. The value says whether any number counts, or only whether it is 0.
var kept = map[uint64]bool{
	abi.SO_DEBUG: false, abi.SO_REUSEADDR: false, abi.SO_DONTROUTE: false, abi.SO_BROADCAST: false, abi.SO_KEEPALIVE: false,
	abi.SO_OOBINLINE: false, abi.SO_PRIORITY: true, abi.SO_REUSEPORT: false, abi.SO_RCVLOWAT: true, abi.SO_TIMESTAMP: false,
}

func getsockopt(t *proc.Thread, a *Args) (uint64, error) {
	s, _, err := socketOf(t, a[0])
	if err != nil {
		return 0, err
	}
	room, err := get[int32](t, a[4])
	switch {
	case err != nil:
		return 0, err
	case asInt(a[1]) != abi.SOL_SOCKET:
		return 0, sys.EOPNOTSUPP
	case room < 0:
		return 0, sys.EINVAL
	}
	value, err := option(s, a[2]&0xffffffff)
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
	switch name {
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
		n = max(1, o.Kept[name])
	default:
		if _, ok := kept[name]; !ok {
			return nil, sys.ENOPROTOOPT
		}
		n = o.Kept[name]
	}
	return abi.Bytes(&n), nil
}

func timeBytes(d time.Duration) []byte {
	tv := abi.TimevalOf(d)
	return abi.Bytes(&tv)
}

func setsockopt(t *proc.Thread, a *Args) (uint64, error) {
	s, _, err := socketOf(t, a[0])
	if err != nil {
		return 0, err
	}
	size := asInt(a[4])
	switch {
	case size < 0:
		return 0, sys.EINVAL
	case asInt(a[1]) != abi.SOL_SOCKET:
		return 0, sys.EOPNOTSUPP
	case size < 4:
		return 0, sys.EINVAL
	}
	n, err := get[int32](t, a[3])
	if err != nil {
		return 0, err
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

// setSocketTime sets how long a call waits.
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
		limit = time.Nanosecond // it is over before it begins
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
	any, keep := kept[name]
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
		if !keep {
			return sys.ENOPROTOOPT
		}
		if !any && n != 0 {
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
	}
	return nil
}
