package sock

import "sonde/kernel/abi"

// Kind is a type of sockets, as in the second argument of socket(2).
type Kind int

const (
	Stream    Kind = abi.SOCK_STREAM
	Datagram  Kind = abi.SOCK_DGRAM
	Seqpacket Kind = abi.SOCK_SEQPACKET
)

// connects reports whether sockets of that kind have exactly one other end.
func (k Kind) connects() bool { return k != Datagram }

// Cred identifies a sender, or the owner of the other end.
type Cred = abi.Ucred

// Addr is the name of a socket; the zero value is none.
type Addr struct {
	Family uint16
	// Name is the name of an AF_UNIX socket: a path, or a zero byte and an abstract name.
	Name string
	// IP and Port are the address for AF_INET, which uses the first four bytes of IP, and AF_INET6.
	IP   [16]byte
	Port uint16
}
