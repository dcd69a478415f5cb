package syscall

import (
	sys "syscall"

	"sonde/kernel/abi"
	"sonde/linux/proc"
)

// Calls that move bytes between a file and several buffers of a program.

// vector moves bytes for each element of an array of Iovec in turn.
func vector(t *proc.Thread, a *Args, how how, off int64) (total uint64, err error) {
	m := mover{t: t, how: how}
	if err := m.open(a[0], off); err != nil {
		return 0, err
	}
	if a[2] > abi.IOVMax {
		return 0, sys.EINVAL
	}
	iov, err := getSlice[abi.Iovec](t, a[1], int(a[2]))
	if err != nil {
		return 0, err
	}
	for _, v := range iov {
		switch {
		case int64(v.Len) < 0:
			return 0, sys.EINVAL
		case !isUser(v.Base, v.Len):
			return 0, sys.EFAULT
		}
	}
	if ofMessages(m.f) {
		return vectorMessage(t, m.f, iov, how)
	}
	if m.f.IsStream() {
		m.iov = iov
		total, err = m.transfer(0, lengthOf(iov), 0)
		return total, signalled(t, m.f, err)
	}
	for _, v := range iov {
		n, err := m.transfer(v.Base, min(v.Len, mostIO-total), off+int64(total))
		total += n
		if err != nil && total == 0 {
			return 0, signalled(t, m.f, err)
		}
		if n < v.Len {
			break
		}
	}
	return total, nil
}

func readv(t *proc.Thread, a *Args) (uint64, error) { return vector(t, a, reads, 0) }

func writev(t *proc.Thread, a *Args) (uint64, error) { return vector(t, a, writes, 0) }

func preadv(t *proc.Thread, a *Args) (uint64, error) { return vector(t, a, readsAt, int64(a[3])) }

func pwritev(t *proc.Thread, a *Args) (uint64, error) { return vector(t, a, writesAt, int64(a[3])) }

// copyIn copies to b from addr in the program or, with a vector, from addr bytes after its start.
func (m *mover) copyIn(b []byte, addr uint64) (n int, err error) {
	if m.iov == nil {
		return m.t.Memory().CopyIn(b, addr)
	}
	err = along(m.iov, addr, uint64(len(b)), func(at, addr, part uint64) error {
		got, err := m.t.Memory().CopyIn(b[at:at+part], addr)
		n += got
		return err
	})
	return n, err
}

// copyOut copies in the other direction.
func (m *mover) copyOut(addr uint64, b []byte) (n int, err error) {
	if m.iov == nil {
		return m.t.Memory().CopyOut(addr, b)
	}
	err = along(m.iov, addr, uint64(len(b)), func(at, addr, part uint64) error {
		put, err := m.t.Memory().CopyOut(addr, b[at:at+part])
		n += put
		return err
	})
	return n, err
}

// unfit returns the error of a write whose bytes b cannot be read, instead of err: a file with a
// least length of writes checks that first.
func (m *mover) unfit(b []byte, err error) error {
	if h, ok := m.f.Handle().(interface{ Least() int }); ok && len(b) < h.Least() {
		return sys.EINVAL
	}
	return err
}
