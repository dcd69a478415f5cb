package sock

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"sync"
	"syscall"

	"sonde/kernel/lock"
	"sonde/kernel/vfs"
)

// names has the sockets whose names are not files, and all sockets.
var names = struct {
	mu sync.Mutex
	// guarded by mu:
	bound map[bound]*Socket
	all   map[*Socket]struct{}
	next  int // where the search for a free name continues
	ports map[port][]*claim
	port  int // the last port that was given to a socket that asked for any
}{bound: map[bound]*Socket{}, all: map[*Socket]struct{}{}, ports: map[port][]*claim{}, port: firstFree}

// bound is a name with the kind of socket: sockets of different kinds can have the same name.
type bound struct {
	Addr
	kind Kind
}

func enlist(s *Socket) {
	names.mu.Lock()
	defer names.mu.Unlock()
	names.all[s] = struct{}{}
}

func delist(s *Socket) {
	names.mu.Lock()
	defer names.mu.Unlock()
	delete(names.all, s)
}

// enlisted returns all sockets, including those that wait to be accepted.
func enlisted() []*Socket {
	names.mu.Lock()
	defer names.mu.Unlock()
	return slices.Collect(maps.Keys(names.all))
}

// Name is the file in the tree that is the name of a socket.
type Name struct {
	vfs.Anonymous

	mu     sync.Mutex
	socket *Socket // guarded by mu; nil if it is closed
}

// Named returns the socket of a node.
//
// Errors: ECONNREFUSED if the node is not a socket's, or the socket is closed.
func Named(n vfs.Node) (*Socket, error) {
	name, ok := n.(*Name)
	if !ok {
		return nil, syscall.ECONNREFUSED
	}
	name.mu.Lock()
	defer name.mu.Unlock()
	if name.socket == nil {
		return nil, syscall.ECONNREFUSED
	}
	return name.socket, nil
}

func (n *Name) set(s *Socket) { lock.Set(&n.mu, &n.socket, s) }

// NewName returns a node of a socket without a socket, as mknod makes one.
func NewName(perm fs.FileMode) *Name { return &Name{Anonymous: vfs.NewNode(fs.ModeSocket | perm)} }

// Find returns the socket with that name, of the same kind as s; the name is not a file.
//
// Errors: ECONNREFUSED.
func (s *Socket) Find(a Addr) (*Socket, error) {
	names.mu.Lock()
	defer names.mu.Unlock()
	if to := names.bound[bound{a, s.kind}]; to != nil {
		return to, nil
	}
	return nil, syscall.ECONNREFUSED
}

// BindFile gives s a name that is a file: add puts the node into the tree.
//
// Errors: EINVAL if it has a name; EADDRINUSE; EBADF; those of add.
func (s *Socket) BindFile(a Addr, perm fs.FileMode, add func(vfs.Node) error) error {
	s.binding.Lock()
	defer s.binding.Unlock()
	switch {
	case s.stage() == closed:
		return syscall.EBADF
	case s.Addr() != (Addr{}):
		return syscall.EINVAL
	}
	n := NewName(perm)
	n.set(s)
	if err := add(n); err != nil {
		return err
	}
	s.update(func() { s.addr, s.file = a, n })
	return nil
}

// Bind gives s a name that is not a file. If it is empty, Bind chooses one.
//
// Errors: EINVAL if it has a name; EADDRINUSE; EBADF.
func (s *Socket) Bind(a Addr) error {
	s.binding.Lock()
	defer s.binding.Unlock()
	if s.stage() == closed {
		return syscall.EBADF
	}
	if s.Internet() {
		return s.bindPort(a)
	}
	if old := s.Addr(); old != (Addr{}) {
		if a.Name == "" {
			return nil
		}
		return syscall.EINVAL
	}
	a, err := s.register(a)
	if err == nil {
		s.update(func() { s.addr = a })
	}
	return err
}

// bindPort is Bind for the Internet. Context: binding held.
//
// Errors: EINVAL, EADDRINUSE, EADDRNOTAVAIL.
func (s *Socket) bindPort(a Addr) error {
	switch {
	case !a.here():
		return syscall.EADDRNOTAVAIL
	case s.Addr() != Addr{}:
		return syscall.EINVAL
	}
	a, err := s.claim(a)
	if err == nil {
		s.update(func() { s.addr = a })
	}
	return err
}

// register records the name, which it chooses if a has none.
func (s *Socket) register(a Addr) (Addr, error) {
	names.mu.Lock()
	defer names.mu.Unlock()
	if a.Name != "" {
		if names.bound[bound{a, s.kind}] != nil {
			return a, syscall.EADDRINUSE
		}
		names.bound[bound{a, s.kind}] = s
		return a, nil
	}
	const most = 1 << 20 // five digits
	for range most {
		names.next = (names.next + 1) % most
		a.Name = fmt.Sprintf("\x00%05x", names.next)
		if names.bound[bound{a, s.kind}] == nil {
			names.bound[bound{a, s.kind}] = s
			return a, nil
		}
	}
	return a, syscall.ENOSPC
}

// unname removes the name.
func (s *Socket) unname() {
	var addr Addr
	var file *Name
	s.update(func() { addr, file, s.file = s.addr, s.file, nil })
	if file != nil {
		file.set(nil)
	}
	names.mu.Lock()
	defer names.mu.Unlock()
	if s.Internet() {
		s.release(addr)
	}
	if names.bound[bound{addr, s.kind}] == s {
		delete(names.bound, bound{addr, s.kind})
	}
}

// Addr returns the name of s.
func (s *Socket) Addr() Addr { return lock.Get(&s.mu, &s.addr) }

// Peer returns the name of the other end.
//
// Errors: ENOTCONN.
func (s *Socket) Peer() (Addr, error) {
	peer := s.partner()
	if to := s.aimedAt(); to != (Addr{}) {
		return to, nil
	}
	if peer == nil {
		return Addr{}, syscall.ENOTCONN
	}
	return peer.Addr(), nil
}

// aimedAt returns the address that a datagram socket of the Internet is connected to.
func (s *Socket) aimedAt() Addr { return lock.Get(&s.mu, &s.dest) }
