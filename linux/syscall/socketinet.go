package syscall

import (
	"encoding/binary"
	sys "syscall"

	"sonde/kernel/abi"
	"sonde/kernel/poll"
	"sonde/kernel/vfs"
	"sonde/linux/proc"
	"sonde/linux/sock"
)

// Sockets of AF_INET and AF_INET6, which reach this machine only.
//
// Source: man ip(7), ipv6(7), tcp(7), udp(7), connect(2).

// inetKind decodes the type and the protocol of a socket of AF_INET or AF_INET6.
//
// Errors: EPROTONOSUPPORT, ESOCKTNOSUPPORT.
func inetKind(kind, protocol int) (sock.Kind, error) {
	own := 0
	switch kind {
	case abi.SOCK_STREAM:
		own = abi.IPPROTO_TCP
	case abi.SOCK_DGRAM:
		own = abi.IPPROTO_UDP
	case abi.SOCK_RAW:
		return 0, sys.EPROTONOSUPPORT
	default:
		return 0, sys.ESOCKTNOSUPPORT
	}
	if protocol != 0 && protocol != own {
		return 0, sys.EPROTONOSUPPORT
	}
	return sock.Kind(kind), nil
}

// protocolOf returns the protocol of a socket.
func protocolOf(s *sock.Socket) int32 {
	switch {
	case !s.Internet():
		return 0
	case s.Kind() == sock.Stream:
		return abi.IPPROTO_TCP
	}
	return abi.IPPROTO_UDP
}

// Lengths of struct sockaddr_in and sockaddr_in6, and the least length of the latter.
const (
	sockaddrInLen  = 16
	sockaddrIn6Len = 28
	leastIn6Len    = 24
)

// inetAddr decodes an address of s with a port.
//
// Errors: EINVAL, EAFNOSUPPORT.
func inetAddr(s *sock.Socket, family uint16, raw []byte) (a sock.Addr, err error) {
	least := sockaddrInLen
	if s.Family() == abi.AF_INET6 {
		least = leastIn6Len
	}
	switch {
	case len(raw) < least:
		return a, sys.EINVAL
	case family != s.Family():
		return a, sys.EAFNOSUPPORT
	}
	a.Family, a.Port = family, binary.BigEndian.Uint16(raw[2:])
	if family == abi.AF_INET6 {
		copy(a.IP[:], raw[8:24])
	} else {
		copy(a.IP[:4], raw[4:8])
	}
	return a, nil
}

// rawInetAddr encodes such an address.
func rawInetAddr(a sock.Addr, family uint16) []byte {
	raw := make([]byte, sockaddrIn6Len)
	binary.LittleEndian.PutUint16(raw, family)
	binary.BigEndian.PutUint16(raw[2:], a.Port)
	if family == abi.AF_INET6 {
		copy(raw[8:], a.IP[:])
		return raw
	}
	copy(raw[4:], a.IP[:4])
	return raw[:sockaddrInLen]
}

// dial is connect for such a socket.
//
// Errors: EINPROGRESS if the caller must not wait, or its time is over.
func dial(t *proc.Thread, s *sock.Socket, f *vfs.File, a sock.Addr) error {
	w := waiterOf(t, f, 0, s.Options().SendTime)
	for {
		err := s.Dial(a, credOf(t))
		if err != sys.EINPROGRESS && err != sys.EALREADY || w.never {
			return err
		}
		if err := w.wait(s, poll.Out); err == sys.EAGAIN {
			return sys.EINPROGRESS
		} else if err != nil {
			return err
		}
	}
}
