package syscall

import (
	sys "syscall"
	"unsafe"

	"sonde/kernel/abi"
	"sonde/kernel/poll"
	"sonde/kernel/vfs"
	"sonde/linux/proc"
	"sonde/linux/sock"
)

// sending is a call that sends.
type sending struct {
	t     *proc.Thread
	f     *vfs.File
	s     *sock.Socket
	flags int
	iov   []abi.Iovec
	to    *sock.Socket // nil: the one that s is connected to
	addr  sock.Addr    // of the Internet; zero: the one that s is connected to
	cred  sock.Cred
	files []*vfs.File // held, until they are sent
}

// sendPiece is how many bytes of a stream are sent at a time.
const sendPiece = 64 << 10

func sendto(t *proc.Thread, a *Args) (uint64, error) {
	c, err := newSending(t, a[0], asInt(a[3]))
	if err != nil {
		return 0, err
	}
	c.iov = []abi.Iovec{{Base: a[1], Len: min(a[2], mostIO)}}
	if err := c.address(a[4], a[5]); err != nil {
		return 0, err
	}
	return c.send()
}

func newSending(t *proc.Thread, fd uint64, flags int) (*sending, error) {
	s, f, err := socketOf(t, fd)
	if err != nil {
		return nil, err
	}
	return &sending{t: t, f: f, s: s, flags: flags, cred: credOf(t)}, nil
}

// address decodes the destination. A null pointer is the one that the socket is connected to.
func (c *sending) address(addr, size uint64) error {
	if addr == 0 || size == 0 {
		return nil
	}
	if c.s.Internet() && c.s.Kind() == sock.Stream {
		return nil // as Linux does
	}
	a, ok, err := addrAt(c.t, c.s, addr, size)
	switch {
	case err != nil:
		return err
	case c.s.Kind() != sock.Datagram:
		if _, err := c.s.Peer(); err == nil {
			return sys.EISCONN
		}
		return sys.EOPNOTSUPP
	case !ok:
		return sys.EINVAL
	case c.s.Internet():
		c.addr = a
		return nil
	}
	c.to, err = socketNamed(c.t, c.s, a)
	if err == nil && c.to.Kind() != c.s.Kind() {
		err = sys.EPROTOTYPE
	}
	return err
}

func sendmsg(t *proc.Thread, a *Args) (uint64, error) {
	h, err := headerAt(t, a[1])
	if err != nil {
		return 0, err
	}
	return sendHeader(t, a[0], &h, asInt(a[2]))
}

// headerAt copies a Msghdr. Its name is cut to the longest that there is.
//
// Errors: EFAULT, EINVAL.
func headerAt(t *proc.Thread, addr uint64) (h abi.Msghdr, err error) {
	if h, err = get[abi.Msghdr](t, addr); err != nil {
		return h, err
	}
	switch {
	case h.Name == 0:
		return h, nil
	case int32(h.Namelen) < 0:
		return h, sys.EINVAL
	}
	h.Namelen = min(h.Namelen, abi.SockaddrMax)
	return h, nil
}

// sendHeader is sendmsg.
func sendHeader(t *proc.Thread, fd uint64, h *abi.Msghdr, flags int) (uint64, error) {
	c, err := newSending(t, fd, flags)
	if err != nil {
		return 0, err
	}
	if c.iov, err = vectorAt(t, h.Iov, h.Iovlen); err != nil {
		return 0, err
	}
	if err := c.address(h.Name, uint64(h.Namelen)); err != nil {
		return 0, err
	}
	defer func() { sock.CloseAll(c.files) }()
	if err := c.control(h); err != nil {
		return 0, err
	}
	return c.send()
}

// vectorAt copies an array of Iovec.
//
// Errors: EMSGSIZE, EINVAL, EFAULT.
func vectorAt(t *proc.Thread, addr, n uint64) ([]abi.Iovec, error) {
	if n > abi.IOVMax {
		return nil, sys.EMSGSIZE
	}
	iov, err := getSlice[abi.Iovec](t, addr, int(n))
	if err != nil {
		return nil, err
	}
	left := uint64(mostIO)
	for i := range iov {
		if int64(iov[i].Len) < 0 {
			return nil, sys.EINVAL
		}
		iov[i].Len = min(iov[i].Len, left)
		left -= iov[i].Len
	}
	return iov, nil
}

func lengthOf(iov []abi.Iovec) (n uint64) {
	for _, v := range iov {
		n += v.Len
	}
	return n
}

// send sends everything, and waits for space. After a signal, a stream's call returns the number of
// bytes sent.
func (c *sending) send() (uint64, error) {
	if c.flags&abi.MSG_OOB != 0 {
		return 0, sys.EOPNOTSUPP
	}
	total, size := uint64(0), lengthOf(c.iov)
	w := waiterOf(c.t, c.f, c.flags, c.s.Options().SendTime)
	for first := true; first || total < size; first = false {
		n, err := c.some(&w, total, size)
		total += n
		if err != nil {
			if total > 0 {
				break
			}
			return 0, c.broken(err)
		}
	}
	return total, nil
}

// broken sends SIGPIPE to a thread that writes to a stream without a reader.
func (c *sending) broken(err error) error {
	if c.flags&abi.MSG_NOSIGNAL != 0 {
		return err
	}
	return signalled(c.t, c.f, err)
}

// some sends the next bytes from off on; of a message, all of it.
func (c *sending) some(w *socketWaiter, off, size uint64) (uint64, error) {
	n := size - off
	if c.s.Kind() == sock.Stream {
		n = min(n, sendPiece)
	} else if n > max(uint64(c.s.Options().Send), 1<<16) {
		return 0, sys.EMSGSIZE
	}
	data, err := gather(c.t, c.iov, off, n)
	if err != nil {
		return 0, err
	}
	for {
		sent, err := c.s.Send(sock.Message{Data: data, Cred: c.cred, Files: c.files, To: c.addr}, c.to)
		if err == nil && (sent > 0 || c.s.Kind() != sock.Stream) {
			c.files = nil // they belong to the message now
		}
		if err != sys.EAGAIN {
			return uint64(sent), err
		}
		if err := w.wait(c.s.Room(c.to), poll.Out); err != nil {
			return 0, err
		}
	}
}

// gather copies n bytes from off bytes after the start of a vector.
func gather(t *proc.Thread, iov []abi.Iovec, off, n uint64) ([]byte, error) {
	data := make([]byte, n)
	err := along(iov, off, n, func(at, addr, n uint64) error { return t.Memory().In(data[at:at+n], addr) })
	return data, err
}

// along calls f for each part of a vector that overlaps the n bytes from off on: f gets n bytes at
// addr, which begin at the byte at of the range.
func along(iov []abi.Iovec, off, n uint64, f func(at, addr, n uint64) error) error {
	at := uint64(0)
	for _, v := range iov {
		if off >= v.Len {
			off -= v.Len
			continue
		}
		part := min(v.Len-off, n-at)
		if part == 0 {
			return nil
		}
		if err := f(at, v.Base+off, part); err != nil {
			return err
		}
		at, off = at+part, 0
	}
	return nil
}

// ofMessages reports whether each read and write of f is a message, which must not be
// moved in parts.
func ofMessages(f *vfs.File) bool {
	s, err := sock.Of(f)
	return err == nil && s.Kind() != sock.Stream
}

// vectorMessage is readv or writev of a socket that sends messages.
func vectorMessage(t *proc.Thread, f *vfs.File, iov []abi.Iovec, how how) (uint64, error) {
	s, err := sock.Of(f)
	switch {
	case err != nil:
		return 0, err
	case how == writes:
		return (&sending{t: t, f: f, s: s, cred: credOf(t), iov: iov}).send()
	case how == reads:
		n, r, err := (&receiving{t: t, f: f, s: s, iov: iov}).receive()
		sock.CloseAll(r.Files)
		return n, err
	}
	return 0, sys.ESPIPE
}

func sendmmsg(t *proc.Thread, a *Args) (uint64, error) {
	if _, _, err := socketOf(t, a[0]); err != nil {
		return 0, err
	}
	return eachMessage(t, a[1], a[2], func(_ int, addr uint64) (uint64, error) {
		h, err := headerAt(t, addr)
		if err != nil {
			return 0, err
		}
		return sendHeader(t, a[0], &h, asInt(a[3]))
	})
}

// eachMessage calls f for each element of an array of Mmsghdr, stores the results, and returns how
// many succeeded. Only an error of the first is returned.
func eachMessage(t *proc.Thread, addr, n uint64, f func(i int, addr uint64) (uint64, error)) (uint64, error) {
	const size, length = uint64(unsafe.Sizeof(abi.Mmsghdr{})), uint64(unsafe.Offsetof(abi.Mmsghdr{}.Len))
	n = min(n&0xffffffff, abi.IOVMax)
	for i := range n {
		at := addr + i*size
		moved, err := f(int(i), at)
		if err == nil {
			err = put(t, at+length, uint32(moved))
		}
		if err != nil && i == 0 {
			return 0, err
		}
		if err != nil || t.Wanted() {
			return i + b2u(err == nil), nil
		}
	}
	return n, nil
}

func b2u(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
