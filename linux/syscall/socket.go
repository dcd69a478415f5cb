package syscall

import (
	"bytes"
	"io/fs"
	sys "syscall"

	"sonde/kernel/abi"
	"sonde/kernel/poll"
	"sonde/kernel/vfs"
	"sonde/linux/proc"
	"sonde/linux/sock"
)

// credOf is the credentials of t's process as others see them; every process is root.
func credOf(t *proc.Thread) sock.Cred { return sock.Cred{PID: int32(t.Process().PID)} }

// kindOf decodes the first three arguments of socket.
//
// Errors: EINVAL, EAFNOSUPPORT, EPROTONOSUPPORT, ESOCKTNOSUPPORT.
func kindOf(a *Args) (k sock.Kind, err error) {
	domain, kind, protocol := asInt(a[0]), asInt(a[1]), asInt(a[2])
	if kind&^abi.SOCK_TYPE_MASK&^(abi.SOCK_CLOEXEC|abi.SOCK_NONBLOCK) != 0 {
		return 0, sys.EINVAL
	}
	kind &= abi.SOCK_TYPE_MASK
	switch {
	case domain < 0 || domain >= abi.AF_MAX:
		return 0, sys.EAFNOSUPPORT
	case kind > abi.SOCK_TYPE_MAX:
		return 0, sys.EINVAL
	case domain == abi.AF_INET || domain == abi.AF_INET6:
		return inetKind(kind, protocol)
	case domain != abi.AF_UNIX:
		return 0, sys.EAFNOSUPPORT
	case protocol != 0 && protocol != abi.AF_UNIX:
		return 0, sys.EPROTONOSUPPORT
	}
	switch kind {
	case abi.SOCK_RAW:
		return sock.Datagram, nil
	case abi.SOCK_STREAM, abi.SOCK_DGRAM, abi.SOCK_SEQPACKET:
		return sock.Kind(kind), nil
	}
	return 0, sys.ESOCKTNOSUPPORT
}

func socket(t *proc.Thread, a *Args) (uint64, error) {
	k, err := kindOf(a)
	if err != nil {
		return 0, err
	}
	return install(t, sock.New(uint16(a[0]), k, asInt(a[1])), a[1]&abi.SOCK_CLOEXEC != 0)
}

func socketpair(t *proc.Thread, a *Args) (uint64, error) {
	k, err := kindOf(a)
	if err != nil {
		return 0, err
	}
	if asInt(a[0]) != abi.AF_UNIX {
		return 0, sys.EOPNOTSUPP
	}
	x, y := sock.Pair(uint16(a[0]), k, credOf(t), asInt(a[1]))
	return installPair(t, x, y, a[1]&abi.SOCK_CLOEXEC != 0, a[3])
}

// socketOf returns the socket of a descriptor.
//
// Errors: EBADF, ENOTSOCK.
func socketOf(t *proc.Thread, fd uint64) (*sock.Socket, *vfs.File, error) {
	f, err := fileOf(t, fd)
	if err != nil {
		return nil, nil, err
	}
	s, err := sock.Of(f)
	return s, f, err
}

func socketAt(t *proc.Thread, fd uint64) (*sock.Socket, error) {
	s, _, err := socketOf(t, fd)
	return s, err
}

// addrAt decodes a name. ok is false for AF_UNSPEC.
//
// Errors: EINVAL, EFAULT, EAFNOSUPPORT.
func addrAt(t *proc.Thread, s *sock.Socket, addr, size uint64) (a sock.Addr, ok bool, err error) {
	n := asInt(size)
	if n < 0 || n > abi.SockaddrMax {
		return a, false, sys.EINVAL
	}
	raw := make([]byte, n)
	if err := t.Memory().In(raw, addr); err != nil {
		return a, false, err
	}
	if n < 2 {
		return a, false, sys.EINVAL
	}
	family, name := uint16(raw[0])|uint16(raw[1])<<8, raw[2:]
	switch {
	case family == abi.AF_UNSPEC:
		return a, false, nil
	case s.Internet():
		a, err = inetAddr(s, family, raw)
		return a, err == nil, err
	case family != s.Family() || n > abi.SockaddrUnixMax:
		return a, false, sys.EINVAL
	}
	if len(name) > 0 && name[0] != 0 {
		if i := bytes.IndexByte(name, 0); i >= 0 {
			name = name[:i]
		}
	}
	return sock.Addr{Family: family, Name: string(name)}, true, nil
}

// putAddr stores a name and its length in a buffer that has space for *sizeAddr bytes.
//
// Errors: EINVAL, EFAULT.
func putAddr(t *proc.Thread, a sock.Addr, family uint16, addr, sizeAddr uint64) error {
	room, err := get[int32](t, sizeAddr)
	if err != nil {
		return err
	}
	if room < 0 {
		return sys.EINVAL
	}
	raw := rawAddr(a, family)
	if err := t.Memory().Out(addr, raw[:min(len(raw), int(room))]); err != nil {
		return err
	}
	return put(t, sizeAddr, int32(len(raw)))
}

// rawAddr encodes a name; an empty one is the family alone.
func rawAddr(a sock.Addr, family uint16) []byte {
	if family != abi.AF_UNIX {
		return rawInetAddr(a, family)
	}
	raw := append([]byte{byte(family), byte(family >> 8)}, a.Name...)
	if a.Name != "" && a.Name[0] != 0 {
		raw = append(raw, 0)
	}
	return raw
}

func bind(t *proc.Thread, s *sock.Socket, a *Args) (uint64, error) {
	name, ok, err := addrAt(t, s, a[1], a[2])
	switch {
	case err != nil:
		return 0, err
	case !ok:
		return 0, sys.EINVAL
	case s.Internet() || name.Name == "" || name.Name[0] == 0:
		return done(s.Bind(name))
	}
	if _, err := vfs.Root.PlaceAt(start(t), name.Name, false, false); err == nil {
		return 0, sys.EADDRINUSE
	}
	return done(s.BindFile(name, fs.ModePerm&^filesOf(t).umask(), func(n vfs.Node) error {
		err := vfs.Root.AddAt(start(t), name.Name, n)
		if err != nil && errnoOf(err) == sys.EEXIST {
			return sys.EADDRINUSE
		}
		return err
	}))
}

// socketNamed returns the socket with a name, for s to send or connect to.
//
// Errors: ECONNREFUSED, and those of looking up a file.
func socketNamed(t *proc.Thread, s *sock.Socket, a sock.Addr) (*sock.Socket, error) {
	switch {
	case a.Name == "":
		return nil, sys.EINVAL
	case a.Name[0] == 0:
		return s.Find(a)
	}
	at, err := vfs.Root.PlaceAt(start(t), a.Name, true, false)
	if err != nil {
		return nil, err
	}
	return sock.Named(at.Node())
}

func listen(t *proc.Thread, s *sock.Socket, a *Args) (uint64, error) {
	return done(s.Listen(asInt(a[1]), credOf(t)))
}

func connect(t *proc.Thread, a *Args) (uint64, error) {
	s, f, err := socketOf(t, a[0])
	if err != nil {
		return 0, err
	}
	name, ok, err := addrAt(t, s, a[1], a[2])
	if err != nil {
		return 0, err
	}
	if !ok {
		return done(s.Disconnect())
	}
	if s.Internet() {
		return done(dial(t, s, f, name))
	}
	w := waiterOf(t, f, 0, s.Options().SendTime)
	for {
		to, err := socketNamed(t, s, name)
		if err == nil {
			err = s.Connect(to, credOf(t))
		}
		if err != sys.EAGAIN {
			return 0, err
		}
		if err := w.wait(s.Room(to), poll.Out); err != nil {
			return 0, err
		}
	}
}

func accept4(t *proc.Thread, a *Args) (uint64, error) {
	if asInt(a[3])&^(abi.SOCK_CLOEXEC|abi.SOCK_NONBLOCK) != 0 {
		return 0, sys.EINVAL
	}
	s, f, err := socketOf(t, a[0])
	if err != nil {
		return 0, err
	}
	w := waiterOf(t, f, 0, s.Options().ReceiveTime)
	for {
		if err := mayOpen(1); err != nil { // the connection would be lost
			return 0, err
		}
		c, err := s.Accept(asInt(a[3]))
		if err == nil {
			return installAccepted(t, c, a)
		}
		if err != sys.EAGAIN {
			return 0, err
		}
		if err := w.wait(s, poll.In); err != nil {
			return 0, err
		}
	}
}

// installAccepted gives a connection its descriptor, and stores the address of the other end.
func installAccepted(t *proc.Thread, f *vfs.File, a *Args) (uint64, error) {
	if a[1] != 0 {
		s, err := sock.Of(f)
		if err == nil {
			peer, _ := s.Peer() // it may be closed already
			err = putAddr(t, peer, s.Family(), a[1], a[2])
		}
		if err != nil {
			vfs.Close(f)
			return 0, err
		}
	}
	return install(t, f, a[3]&abi.SOCK_CLOEXEC != 0)
}

func shutdown(t *proc.Thread, s *sock.Socket, a *Args) (uint64, error) {
	how := asInt(a[1])
	if how < abi.SHUT_RD || how > abi.SHUT_RDWR {
		return 0, sys.EINVAL
	}
	return done(s.Shutdown(how != abi.SHUT_WR, how != abi.SHUT_RD))
}

func getsockname(t *proc.Thread, s *sock.Socket, a *Args) (uint64, error) {
	return done(putAddr(t, s.Addr(), s.Family(), a[1], a[2]))
}

func getpeername(t *proc.Thread, s *sock.Socket, a *Args) (uint64, error) {
	name, err := s.Peer()
	if err != nil {
		return 0, err
	}
	return done(putAddr(t, name, s.Family(), a[1], a[2]))
}
