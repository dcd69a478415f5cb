package syscall

import (
	"cmp"
	"errors"
	"io"
	"sync"
	sys "syscall"

	"sonde/kernel/abi"
	"sonde/kernel/vfs"
	"sonde/linux/proc"
	"sonde/linux/space"
)

// mostIO is the most bytes that one call moves, as in Linux.
const mostIO = 0x7ffff000

// largePiece is how many bytes go through the kernel at a time; most calls need few, and use the
// thread's own buffer.
const largePiece = 64 << 10

var larges = sync.Pool{New: func() any { return new([largePiece]byte) }}

// buffer returns a buffer of n bytes, or of a piece if that is less. If large is not nil, the
// caller returns it to larges.
func buffer(t *proc.Thread, n uint64) (b []byte, large *[largePiece]byte) {
	if n <= uint64(len(t.Buffer)) {
		return t.Buffer[:n], nil
	}
	large = larges.Get().(*[largePiece]byte)
	return large[:min(n, largePiece)], large
}

// withBuffer calls f with a buffer.
func withBuffer(t *proc.Thread, n uint64, f func(b []byte) error) error {
	b, large := buffer(t, n)
	err := f(b)
	if large != nil {
		larges.Put(large)
	}
	return err
}

// A mover moves bytes between a file and a buffer. It is not a function value, because that would
// be allocated for each call, with the variables it refers to.
type mover struct {
	t     *proc.Thread
	f     *vfs.File
	how   how
	begun bool
	iov   []abi.Iovec // the program's buffers, in order; nil: one address
}

type how uint8

const (
	reads    how = iota // waits for the first bytes, and returns what there is then
	writes              // waits until all is written
	readsAt             // at an offset that the others ignore
	writesAt            // likewise
)

func (m *mover) move(b []byte, off int64) (int, error) {
	switch m.how {
	case reads:
		return m.read(b)
	case writes:
		return m.write(b)
	case readsAt:
		return m.f.ReadAt(b, off)
	}
	if limit, ok := m.t.Process().FileLimit(); ok {
		return m.f.WriteAtWithin(b, off, limit)
	}
	return m.f.WriteAt(b, off)
}

// in reports whether the bytes go to the file.
func (m *mover) in() bool { return m.how == writes || m.how == writesAt }

func (m *mover) read(b []byte) (int, error) {
	var w vfs.Waiter
	if !m.begun {
		w = m.t
	}
	n, err := vfs.Read(m.f, b, w)
	if err != nil {
		n, err = m.byThread(b, n, err)
	}
	m.begun = true
	return n, err
}

// byThread reads a file whose contents depend on the reader, which vfs.Read refuses; other results stay
// as they are.
func (m *mover) byThread(b []byte, n int, err error) (int, error) {
	if !errors.Is(err, errByThread) {
		return n, err
	}
	s := signalSource{m.t, m.f.Handle().(*signalFile)}
	return s.read(b, !m.begun && m.f.Flags()&vfs.O_NONBLOCK == 0)
}

func (m *mover) write(b []byte) (int, error) {
	if limit, ok := m.t.Process().FileLimit(); ok && m.f.IsRegular() {
		return m.f.WriteWithin(b, limit)
	}
	return vfs.Write(m.f, b, m.t)
}

// piece moves len(b) bytes between addr in the program and the file, at off if that counts. If the
// program's memory ends before that, it moves the bytes in front of the end.
func (m *mover) piece(b []byte, addr uint64, off int64) (moved int, err error) {
	if m.in() {
		n, err := m.copyIn(b, addr)
		if n = m.whole(n, len(b)); n == 0 && err != nil {
			return 0, m.unfit(b, err)
		}
		return m.move(b[:n], off)
	}
	if moved, err = m.move(b, off); moved <= 0 {
		return moved, err
	}
	n, bad := m.copyOut(addr, b[:moved])
	if bad == nil {
		return moved, err
	}
	return m.giveBack(b[:moved], n), bad
}

// giveBack gives back to the file what of b, which was read, did not fit into the program's memory,
// and returns how many of the n bytes that did fit count.
func (m *mover) giveBack(b []byte, n int) int {
	n = m.whole(n, len(b))
	if m.how == reads {
		m.f.Unread(b[n:])
	}
	return n
}

// whole is how many of n bytes a file takes or returns if all could be copied. A stream moves whole
// pages or nothing, as in Linux: what was written as one piece stays one piece.
func (m *mover) whole(n, all int) int {
	if n < all && m.f.IsStream() {
		n -= n % space.PageSize
	}
	return n
}

// transfer moves up to n bytes between addr in the program and the file.
//
// Errors: EFAULT, and those of the file, if nothing was moved.
func (m *mover) transfer(addr, n uint64, off int64) (total uint64, err error) {
	if m.iov == nil && !isUser(addr, n) {
		return 0, sys.EFAULT
	}
	if n > uint64(len(m.t.Buffer)) {
		return m.pieces(addr, min(n, mostIO), off)
	}
	moved, err := m.piece(m.t.Buffer[:n], addr, off)
	if moved > 0 || err == io.EOF {
		err = nil
	}
	return uint64(max(moved, 0)), err
}

// pieces is transfer through a large buffer.
func (m *mover) pieces(addr, n uint64, off int64) (total uint64, err error) {
	b, large := buffer(m.t, n)
	for {
		b = b[:min(n-total, uint64(len(b)))]
		var moved int
		moved, err = m.piece(b, addr+total, off+int64(total))
		if moved > 0 {
			total += uint64(moved)
		}
		if err != nil || moved < len(b) || total == n || m.t.Dying() {
			break
		}
	}
	if large != nil {
		larges.Put(large)
	}
	if err == io.EOF || total > 0 {
		err = nil
	}
	return total, err
}

// readFew is transfer for most calls of read, with fewer steps: of no more bytes than fit into the
// thread's buffer.
func (m *mover) readFew(addr, n uint64) (uint64, error) {
	if !isUser(addr, n) {
		return 0, sys.EFAULT
	}
	b := m.t.Buffer[:n]
	got, err := vfs.Read(m.f, b, m.t)
	if err != nil {
		got, err = m.byThread(b, got, err)
	}
	if got > 0 {
		put, bad := m.t.Memory().CopyOut(addr, b[:got])
		if bad == nil {
			return uint64(put), nil
		}
		got, err = m.giveBack(b[:got], put), bad
	}
	if got > 0 || err == io.EOF {
		err = nil
	}
	return uint64(max(got, 0)), err
}

func read(t *proc.Thread, a *Args) (uint64, error) {
	f, err := fileToRead(t, a[0])
	if err != nil {
		return 0, err
	}
	m := mover{t: t, f: f, how: reads}
	if a[2] <= uint64(len(t.Buffer)) {
		return m.readFew(a[1], a[2])
	}
	if a[2] > largePiece && ofMessages(m.f) {
		return recvfrom(t, &Args{a[0], a[1], a[2]})
	}
	return m.transfer(a[1], a[2], 0)
}

func write(t *proc.Thread, a *Args) (uint64, error) {
	f, err := fileToWrite(t, a[0])
	if err != nil {
		return 0, err
	}
	m := mover{t: t, f: f, how: writes}
	if a[2] > largePiece && ofMessages(m.f) {
		return sendto(t, &Args{a[0], a[1], a[2]})
	}
	n, err := m.transfer(a[1], a[2], 0)
	return n, signalled(t, m.f, err)
}

// signalled sends the signal that goes with the error of a write to f: SIGPIPE for a pipe or stream
// without readers, SIGXFSZ for a file that would exceed RLIMIT_FSIZE.
func signalled(t *proc.Thread, f *vfs.File, err error) error {
	switch {
	case err == nil:
	case errnoOf(err) == sys.EPIPE && !ofMessages(f):
		t.Send(proc.SignalFrom(t.Process(), abi.SIGPIPE, abi.SI_USER))
	case errors.Is(err, vfs.ErrLimit):
		return tooLong(t)
	}
	return err
}

func pread64(t *proc.Thread, a *Args) (uint64, error) {
	m := mover{t: t, how: readsAt}
	if err := m.open(a[0], int64(a[3])); err != nil {
		return 0, err
	}
	return m.transfer(a[1], a[2], int64(a[3]))
}

func pwrite64(t *proc.Thread, a *Args) (uint64, error) {
	m := mover{t: t, how: writesAt}
	if err := m.open(a[0], int64(a[3])); err != nil {
		return 0, err
	}
	n, err := m.transfer(a[1], a[2], int64(a[3]))
	return n, signalled(t, m.f, err)
}

// fileAt is fileOf for a call with an offset.
//
// Errors: EINVAL before all others, as in Linux; EBADF, ESPIPE.
func fileAt(t *proc.Thread, fd, off uint64) (*vfs.File, error) {
	if int64(off) < 0 {
		return nil, sys.EINVAL
	}
	f, err := fileOf(t, fd)
	if err == nil && f.IsStream() {
		err = sys.ESPIPE
	}
	return f, err
}

// open sets the file of a descriptor.
//
// Errors: as fileToRead, fileToWrite and fileAt.
func (m *mover) open(fd uint64, off int64) (err error) {
	switch m.how {
	case reads:
		m.f, err = fileToRead(m.t, fd)
	case writes:
		m.f, err = fileToWrite(m.t, fd)
	default:
		m.f, err = fileAt(m.t, fd, uint64(off))
	}
	return err
}

func lseek(t *proc.Thread, f *vfs.File, a *Args) (uint64, error) {
	at, err := f.Seek(int64(a[1]), asInt(a[2]))
	return uint64(at), err
}

// sendfile copies from one file to another, from *off on if there is an off.
func sendfile(t *proc.Thread, a *Args) (uint64, error) {
	to, err := fileToWrite(t, a[0])
	if err != nil {
		return 0, err
	}
	from, err := fileToRead(t, a[1])
	if err != nil {
		return 0, err
	}
	if to.Flags()&abi.O_ACCMODE == abi.O_RDONLY || from.Flags()&abi.O_ACCMODE == abi.O_WRONLY {
		return 0, sys.EBADF
	}
	off, placed, err := getIf[int64](t, a[2])
	if err != nil {
		return 0, err
	}
	src, dst := mover{t: t, f: from, how: reads}, mover{t: t, f: to, how: writes}
	if placed {
		src.how = readsAt
	}
	write := func(b []byte, off int64) (int, error) {
		n, err := dst.move(b, off)
		if !placed && n < len(b) {
			from.Unread(b[n:])
		}
		return n, err
	}
	n, err := pass(t, src.move, write, min(a[3], mostIO), off)
	if placed {
		err = cmp.Or(err, put(t, a[2], off+int64(n)))
	}
	return n, signalled(t, to, err)
}

// pass moves up to n bytes from src to dst, fewer if a signal comes or src has no more now: an end
// that a terminal or pipe reports only once is left for the next reader. off is for those of the
// two functions that use it.
func pass(t *proc.Thread, src, dst func(b []byte, off int64) (int, error), n uint64, off int64) (total uint64, err error) {
	for total < n && err == nil && (total == 0 || !t.Wanted()) {
		err = withBuffer(t, min(n-total, largePiece), func(b []byte) error {
			got, err := src(b, off+int64(total))
			if got == 0 {
				return cmp.Or(err, io.EOF)
			}
			put, err := dst(b[:got], off+int64(total))
			total += uint64(put)
			if err == nil && (put < got || got < len(b)) {
				err = io.EOF
			}
			return err
		})
	}
	if err == io.EOF || total > 0 {
		err = nil
	}
	return total, err
}
