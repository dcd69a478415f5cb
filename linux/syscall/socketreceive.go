package syscall

import (
	sys "syscall"
	"time"

	"sonde/kernel/abi"
	"sonde/kernel/poll"
	"sonde/kernel/vfs"
	"sonde/linux/proc"
	"sonde/linux/sock"
)

// receiving is a call that receives.
type receiving struct {
	t     *proc.Thread
	f     *vfs.File
	s     *sock.Socket
	flags int
	iov   []abi.Iovec
}

func recvfrom(t *proc.Thread, a *Args) (uint64, error) {
	c, err := newReceiving(t, a[0], asInt(a[3]))
	if err != nil {
		return 0, err
	}
	c.iov = []abi.Iovec{{Base: a[1], Len: min(a[2], mostIO)}}
	n, r, err := c.receive()
	sock.CloseAll(r.Files)
	if err != nil {
		return 0, err
	}
	if a[4] != 0 {
		err = c.putFrom(r, a[4], a[5])
	}
	return n, err
}

func newReceiving(t *proc.Thread, fd uint64, flags int) (*receiving, error) {
	s, f, err := socketOf(t, fd)
	if err != nil {
		return nil, err
	}
	return &receiving{t: t, f: f, s: s, flags: flags}, nil
}

// putFrom stores the sender's address of a datagram; without a name, only the length 0.
func (c *receiving) putFrom(r sock.Received, addr, sizeAddr uint64) error {
	if r.From == (sock.Addr{}) {
		room, err := get[int32](c.t, sizeAddr)
		if err == nil && room < 0 {
			err = sys.EINVAL
		}
		if err != nil {
			return err
		}
		return put(c.t, sizeAddr, int32(0))
	}
	return putAddr(c.t, r.From, c.s.Family(), addr, sizeAddr)
}

// receive receives a message or, of a stream, the bytes that are there; with MSG_WAITALL all bytes
// asked for, unless a signal, files or the end come first.
func (c *receiving) receive() (uint64, sock.Received, error) {
	switch {
	case c.flags&abi.MSG_ERRQUEUE != 0 && c.s.Internet():
		return 0, sock.Received{}, sys.EAGAIN // there is no queue of errors
	case c.flags&abi.MSG_OOB != 0:
		return 0, sock.Received{}, sys.EINVAL // there is no out-of-band data
	}
	size := lengthOf(c.iov)
	w := waiterOf(c.t, c.f, c.flags, c.s.Options().ReceiveTime)
	all, total, err := c.some(&w, 0, size)
	if err != nil {
		return 0, all, err
	}
	more := c.flags&(abi.MSG_WAITALL|abi.MSG_PEEK) == abi.MSG_WAITALL && c.s.Kind() == sock.Stream
	for more && total < size && len(all.Files) == 0 {
		r, n, err := c.some(&w, total, size)
		all.Files = r.Files
		total += n
		if err != nil || n == 0 {
			break
		}
	}
	if c.flags&abi.MSG_TRUNC != 0 && c.s.Kind() != sock.Stream {
		total = uint64(all.Full)
	}
	return total, all, nil
}

// some receives the next bytes, which follow off others.
func (c *receiving) some(w *socketWaiter, off, size uint64) (sock.Received, uint64, error) {
	want := sock.Want{Len: int(size - off), Peek: c.flags&abi.MSG_PEEK != 0}
	want.Put = func(at int, b []byte) (int, error) { return scatter(c.t, c.iov, off+uint64(at), b) }
	for {
		r, err := c.s.Receive(want)
		if err != sys.EAGAIN {
			return r, uint64(r.N), err
		}
		if err := w.wait(c.s, poll.In); err != nil {
			return r, 0, err
		}
	}
}

// scatter stores b from off bytes after the start of a vector on.
func scatter(t *proc.Thread, iov []abi.Iovec, off uint64, b []byte) (n int, err error) {
	err = along(iov, off, uint64(len(b)), func(at, addr, part uint64) error {
		err := t.Memory().Out(addr, b[at:at+part])
		if err == nil {
			n += int(part)
		}
		return err
	})
	return n, err
}

func recvmsg(t *proc.Thread, a *Args) (uint64, error) {
	return receiveHeader(t, a[0], a[1], asInt(a[2]))
}

// receiveHeader is recvmsg.
func receiveHeader(t *proc.Thread, fd, addr uint64, flags int) (uint64, error) {
	c, err := newReceiving(t, fd, flags)
	if err != nil {
		return 0, err
	}
	h, err := headerAt(t, addr)
	if err != nil {
		return 0, err
	}
	if c.iov, err = vectorAt(t, h.Iov, h.Iovlen); err != nil {
		return 0, err
	}
	n, r, err := c.receive()
	if err != nil {
		return 0, err
	}
	h.Flags = 0
	if r.Full > r.N {
		h.Flags |= abi.MSG_TRUNC
	}
	if err := c.tellControl(&h, r); err != nil {
		return 0, err
	}
	return n, c.storeHeader(&h, r, addr)
}

// storeHeader stores the results of the call in a Msghdr.
func (c *receiving) storeHeader(h *abi.Msghdr, r sock.Received, addr uint64) error {
	if h.Name != 0 {
		var raw []byte
		if r.From != (sock.Addr{}) {
			raw = rawAddr(r.From, c.s.Family())
		}
		if err := c.t.Memory().Out(h.Name, raw[:min(len(raw), int(h.Namelen))]); err != nil {
			return err
		}
		h.Namelen = uint32(len(raw))
	}
	return put(c.t, addr, *h)
}

func recvmmsg(t *proc.Thread, a *Args) (uint64, error) {
	if _, _, err := socketOf(t, a[0]); err != nil {
		return 0, err
	}
	ts, ok, err := timeIf(t, a[4])
	if err != nil {
		return 0, err
	}
	const waitForOne = 0x10000
	late, flags := time.Now().Add(ts.Duration()), asInt(a[3])
	return eachMessage(t, a[1], a[2], func(i int, addr uint64) (uint64, error) {
		if i > 0 && ok && time.Now().After(late) {
			return 0, sys.EAGAIN
		}
		f := flags &^ waitForOne
		if i > 0 && flags&waitForOne != 0 {
			f |= abi.MSG_DONTWAIT
		}
		return receiveHeader(t, a[0], addr, f)
	})
}
