package sock

import (
	"slices"
	"syscall"

	"sonde/kernel/abi"
)

// A port is shared out among the sockets of one family and kind.
type port struct {
	family uint16
	kind   Kind
	number uint16
}

// claim is the use of a port by a socket. Context: names.mu held.
type claim struct {
	s      *Socket
	addr   Addr
	peer   Addr // of a datagram socket: the address that it receives from; zero: any
	reuse  bool // SO_REUSEADDR
	share  bool // SO_REUSEPORT
	listen bool
}

// The range of ports for sockets that ask for any, as in Linux.
const (
	firstFree = 32768
	lastFree  = 60999
)

// conflicts reports whether two sockets cannot have the same port.
func (c *claim) conflicts(o *claim) bool {
	switch {
	case c.addr.IP != o.addr.IP && !c.addr.any() && !o.addr.any():
		return false
	case c.share && o.share:
		return false
	}
	return !c.reuse || !o.reuse || c.listen || o.listen
}

// claim gives s a port: a free one if a has none. The caller stores the address.
//
// Errors: EADDRINUSE.
func (s *Socket) claim(a Addr) (Addr, error) {
	o := s.Options()
	c := &claim{s: s, addr: a, reuse: o.flagged(abi.SO_REUSEADDR), share: o.flagged(abi.SO_REUSEPORT)}
	names.mu.Lock()
	defer names.mu.Unlock()
	if a.Port != 0 {
		return a, c.enter()
	}
	c.reuse, c.share = false, false // a free port has no other users
	for range lastFree - firstFree + 1 {
		names.port = firstFree + (names.port-firstFree+1)%(lastFree-firstFree+1)
		c.addr.Port = uint16(names.port)
		if c.enter() == nil {
			c.reuse, c.share = o.flagged(abi.SO_REUSEADDR), o.flagged(abi.SO_REUSEPORT)
			return c.addr, nil
		}
	}
	return a, syscall.EADDRINUSE
}

// key is the port of c. Context: names.mu held, for all of these.
func (c *claim) key() port { return port{c.s.family, c.s.kind, c.addr.Port} }

// enter adds c to the claims on its port.
func (c *claim) enter() error {
	if c.disputed() {
		return syscall.EADDRINUSE
	}
	names.ports[c.key()] = append(names.ports[c.key()], c)
	return nil
}

func (c *claim) disputed() bool {
	return slices.ContainsFunc(names.ports[c.key()], func(o *claim) bool { return o != c && c.conflicts(o) })
}

// claimed returns the claim of s on the port of a, nil for none.
func (s *Socket) claimed(a Addr) *claim {
	for _, c := range names.ports[port{s.family, s.kind, a.Port}] {
		if c.s == s {
			return c
		}
	}
	return nil
}

// readdress records the new address a of s, which has a port.
func (s *Socket) readdress(a Addr) {
	names.mu.Lock()
	defer names.mu.Unlock()
	if c := s.claimed(a); c != nil {
		c.addr = a
	}
}

// opens lets others connect to the port of s, whose address is a.
//
// Errors: EADDRINUSE if another socket listens there.
func (s *Socket) opens(a Addr) error {
	names.mu.Lock()
	defer names.mu.Unlock()
	c := s.claimed(a)
	if c == nil || c.listen {
		return nil
	}
	c.listen = true
	if slices.ContainsFunc(names.ports[c.key()], func(o *claim) bool { return o != c && o.listen && c.conflicts(o) }) {
		c.listen = false
		return syscall.EADDRINUSE
	}
	return nil
}

// release frees the port of s.
func (s *Socket) release(a Addr) {
	c := s.claimed(a)
	if c == nil {
		return
	}
	k := c.key()
	names.ports[k] = slices.DeleteFunc(names.ports[k], func(o *claim) bool { return o == c })
	if len(names.ports[k]) == 0 {
		delete(names.ports, k)
	}
}

// listener returns the socket that listens at a; one at that address is preferred to one at all
// addresses.
//
// Errors: ECONNREFUSED.
func (s *Socket) listener(a Addr) (*Socket, error) {
	return s.best(a, func(c *claim) int { return b2i(c.listen) })
}

// best returns the socket at the address a with the highest score; 0 excludes one.
//
// Errors: ECONNREFUSED.
func (s *Socket) best(a Addr, score func(c *claim) int) (*Socket, error) {
	names.mu.Lock()
	defer names.mu.Unlock()
	var found *Socket
	most := 0
	for _, c := range names.ports[port{s.family, s.kind, a.Port}] {
		n := 2 * score(c)
		if n > 0 && c.addr.IP == a.IP {
			n++
		} else if !c.addr.any() {
			continue
		}
		if n > most {
			found, most = c.s, n
		}
	}
	if found == nil {
		return nil, syscall.ECONNREFUSED
	}
	return found, nil
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
