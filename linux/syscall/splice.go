package syscall

import (
	"cmp"
	"io"
	sys "syscall"

	"sonde/kernel/abi"
	"sonde/kernel/poll"
	"sonde/kernel/vfs"
	"sonde/kernel/vfs/pipe"
	"sonde/linux/proc"
)

// Flags of splice, tee and vmsplice. SPLICE_F_MOVE, SPLICE_F_MORE and SPLICE_F_GIFT are hints,
// without effect here: all bytes are copied.
const (
	spliceNonblock = 2
	spliceFlags    = 0xf
)

// splicing is one side of a splice or tee.
type splicing struct {
	mover
	pipe pipe.End // nil if it is not a pipe
	wait bool     // wait until there are bytes, or space for them
	off  int64
	addr uint64 // of the offset in the program; 0: the file's position is used
}

// side opens one side of a splice.
//
// Errors: EBADF.
func side(t *proc.Thread, fd uint64, how how, flags uint64) (s splicing, err error) {
	f, err := fileOf(t, fd)
	if err != nil {
		return s, err
	}
	access, refused := f.Flags()&(abi.O_ACCMODE|abi.O_PATH), abi.O_WRONLY
	if how == writes {
		refused = abi.O_RDONLY
	}
	if access == refused || access&abi.O_PATH != 0 {
		return s, sys.EBADF
	}
	s.mover = mover{t: t, f: f, how: how}
	s.pipe, _ = pipe.EndOf(f)
	s.wait = flags&spliceNonblock == 0 && (s.pipe == nil || f.Flags()&abi.O_NONBLOCK == 0)
	return s, nil
}

// sides opens both sides.
func sides(t *proc.Thread, in, out, flags uint64) (from, to splicing, err error) {
	if from, err = side(t, in, reads, flags); err == nil {
		to, err = side(t, out, writes, flags)
	}
	return from, to, err
}

// at sets the offset from the program's argument.
//
// Errors: ESPIPE for a pipe, EINVAL for another stream or a negative one, EFAULT.
func (s *splicing) at(addr uint64) (err error) {
	switch {
	case addr == 0:
		return nil
	case s.pipe != nil:
		return sys.ESPIPE
	case s.f.IsStream():
		return sys.EINVAL
	}
	s.how, s.addr = s.how+readsAt-reads, addr
	if s.off, err = get[int64](s.t, addr); err == nil && s.off < 0 {
		err = sys.EINVAL
	}
	return err
}

// moved stores the offset after the moved bytes.
func (s *splicing) moved(n uint64) error {
	if s.addr == 0 {
		return nil
	}
	return put(s.t, s.addr, s.off+int64(n))
}

// await waits for a pipe to become ready.
//
// Errors: EAGAIN if the caller must not wait, EINTR.
func (s *splicing) await(ev poll.Events) error {
	if !s.wait {
		return sys.EAGAIN
	}
	return poll.Until(s.f, ev, s.t.Cancel())
}

// room waits until there is space in a pipe, and returns how much.
//
// Errors: EPIPE, and as await.
func (s *splicing) room() (uint64, error) {
	for {
		n, err := s.pipe.Room()
		if n > 0 || err != nil {
			return uint64(n), err
		}
		if err := s.await(poll.Out); err != nil {
			return 0, err
		}
	}
}

// filled waits until a pipe has bytes, or will never have any.
//
// Errors: as await.
func (s *splicing) filled() error {
	for {
		var one [1]byte
		if _, err := s.pipe.Peek(one[:]); err != sys.EAGAIN {
			return nil
		}
		if err := s.await(poll.In); err != nil {
			return err
		}
	}
}

// splice moves bytes between a pipe and a file, or another pipe.
//
// Source: Linux, splice(2).
func splice(t *proc.Thread, a *Args) (uint64, error) {
	if a[4] == 0 {
		return 0, nil
	}
	if a[5]&^spliceFlags != 0 {
		return 0, sys.EINVAL
	}
	from, to, err := sides(t, a[0], a[2], a[5])
	if err == nil {
		err = from.at(a[1])
	}
	if err == nil {
		err = to.at(a[3])
	}
	switch {
	case err != nil:
		return 0, err
	case from.pipe == nil && to.pipe == nil, to.f.Flags()&abi.O_APPEND != 0,
		from.pipe != nil && to.pipe != nil && pipe.Same(from.pipe, to.pipe):
		return 0, sys.EINVAL
	}
	n, err := spliceAll(&from, &to, min(a[4], mostIO))
	if err == nil {
		err = cmp.Or(from.moved(n), to.moved(n))
	}
	return n, signalled(t, to.f, err)
}

// spliceAll moves up to n bytes: it waits for the first, and then takes what there is.
func spliceAll(from, to *splicing, n uint64) (total uint64, err error) {
	for total < n && err == nil && (total == 0 || !from.t.Wanted()) {
		var moved uint64
		moved, err = splicePiece(from, to, n-total, int64(total))
		total += moved
		from.wait, to.wait = false, false
		if moved == 0 {
			break
		}
	}
	if total > 0 {
		err = nil
	}
	return total, err
}

// splicePiece moves as many bytes as both pipes and a buffer allow. Bytes that cannot be written
// are put back for the next reader.
func splicePiece(from, to *splicing, n uint64, done int64) (moved uint64, err error) {
	if from.pipe != nil {
		err = from.filled()
	}
	if err == nil && to.pipe != nil {
		var room uint64
		room, err = to.room()
		n = min(n, room)
	}
	if err != nil {
		return 0, err
	}
	err = withBuffer(from.t, min(n, largePiece), func(b []byte) error {
		from.begun = !from.wait
		got, err := from.move(b, from.off+done)
		if got <= 0 {
			return notEnd(err)
		}
		put, err := to.move(b[:got], to.off+done)
		moved = uint64(max(put, 0))
		if put < got && from.how == reads {
			from.f.Unread(b[moved:got])
		}
		return err
	})
	return moved, err
}

// notEnd returns err unless it is io.EOF, which is not an error for a program.
func notEnd(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

// tee copies bytes from one pipe to another, and leaves them in the first.
//
// Source: Linux, tee(2).
func tee(t *proc.Thread, a *Args) (uint64, error) {
	if a[3]&^spliceFlags != 0 {
		return 0, sys.EINVAL
	}
	if a[2] == 0 {
		return 0, nil
	}
	from, to, err := sides(t, a[0], a[1], a[3])
	switch {
	case err != nil:
		return 0, err
	case from.pipe == nil || to.pipe == nil || pipe.Same(from.pipe, to.pipe):
		return 0, sys.EINVAL
	}
	if err := from.filled(); err != nil {
		return 0, err
	}
	room, err := to.room()
	if err != nil {
		return 0, signalled(t, to.f, err)
	}
	n := uint64(0)
	err = withBuffer(t, min(a[2], room, largePiece), func(b []byte) error {
		got, err := from.pipe.Peek(b)
		if got == 0 {
			return notEnd(err)
		}
		put, err := vfs.Write(to.f, b[:got], nil)
		n = uint64(put)
		return err
	})
	return n, signalled(t, to.f, err)
}

// vmsplice is writev to a pipe that takes only what fits, or readv from one.
//
// Source: Linux, vmsplice(2).
func vmsplice(t *proc.Thread, a *Args) (uint64, error) {
	if a[3]&^spliceFlags != 0 {
		return 0, sys.EINVAL
	}
	f, err := fileOf(t, a[0])
	if err != nil {
		return 0, err
	}
	end, ok := pipe.EndOf(f)
	if !ok {
		return 0, sys.EBADF
	}
	if a[2] > abi.IOVMax {
		return 0, sys.EINVAL
	}
	iov, err := getSlice[abi.Iovec](t, a[1], int(a[2]))
	if err != nil {
		return 0, err
	}
	s := splicing{mover: mover{t: t, f: f, how: reads}, pipe: end, wait: a[3]&spliceNonblock == 0}
	if f.Flags()&abi.O_ACCMODE != abi.O_RDONLY {
		s.how = writes
	}
	n, err := s.memory(iov)
	return n, signalled(t, f, err)
}

// memory moves bytes between the program's memory and a pipe, until the pipe is full or empty.
func (s *splicing) memory(iov []abi.Iovec) (total uint64, err error) {
	for _, v := range iov {
		if v.Len > mostIO {
			return total, unlessDone(total, sys.EINVAL)
		}
		for done := uint64(0); done < v.Len; {
			n, err := s.memoryPiece(v.Base+done, v.Len-done)
			total, done = total+n, done+n
			if n == 0 || err != nil {
				return total, unlessDone(total, err)
			}
			s.wait = false
		}
	}
	return total, nil
}

func unlessDone(total uint64, err error) error {
	if total > 0 {
		return nil
	}
	return err
}

func (s *splicing) memoryPiece(addr, n uint64) (moved uint64, err error) {
	if s.how == writes {
		var room uint64
		room, err = s.room()
		n = min(n, room)
	} else {
		err = s.filled()
	}
	if err != nil {
		return 0, err
	}
	err = withBuffer(s.t, min(n, largePiece), func(b []byte) error {
		s.begun = true
		got, err := s.piece(b, addr, 0)
		moved = uint64(max(got, 0))
		return notEnd(err)
	})
	return moved, err
}
