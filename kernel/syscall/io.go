package syscall

import (
	"io"
	"sync"
	sys "syscall"

	"sonde/kernel/abi"
	"sonde/kernel/proc"
	"sonde/kernel/vfs"
)

// mostIO is the most that one call moves, as in Linux.
const mostIO = 0x7ffff000

// Pieces in which bytes go through the kernel: most calls want few.
const (
	smallPiece = 512
	largePiece = 64 << 10
)

var (
	smalls = sync.Pool{New: func() any { return new([smallPiece]byte) }}
	larges = sync.Pool{New: func() any { return new([largePiece]byte) }}
)

// withBuffer calls f with a buffer of n bytes, or as many as a piece has.
func withBuffer(n uint64, f func(b []byte) error) error {
	if n <= smallPiece {
		b := smalls.Get().(*[smallPiece]byte)
		defer smalls.Put(b)
		return f(b[:n])
	}
	b := larges.Get().(*[largePiece]byte)
	defer larges.Put(b)
	return f(b[:min(n, largePiece)])
}

// mover moves bytes between a file and a buffer, from off on where off counts.
type mover func(b []byte, off int64) (int, error)

// reader moves from f, and sleeps until there is something; what follows that is
// taken only if it is there. off does not count.
func reader(t *proc.Thread, f *vfs.File) mover {
	begun := false
	return func(b []byte, _ int64) (int, error) {
		n, err := vfs.Read(f, b)
		if err == sys.EAGAIN && !begun && f.Flags()&vfs.O_NONBLOCK == 0 {
			n, err = f.ReadWait(b, t.Cancel())
		}
		begun = true
		return n, err
	}
}

// writer moves to f, and sleeps until all is written. off does not count.
func writer(t *proc.Thread, f *vfs.File) mover {
	return func(b []byte, _ int64) (int, error) {
		n, err := vfs.Write(f, b)
		if n == len(b) || f.Flags()&vfs.O_NONBLOCK != 0 || err != nil && err != sys.EAGAIN {
			return n, err
		}
		m, err := f.WriteWait(b[n:], t.Cancel())
		if n > 0 {
			err = nil
		}
		return n + m, err
	}
}

// transfer moves up to n bytes between addr in the program and a file. in says
// whether they go to the file.
func transfer(t *proc.Thread, in bool, move mover, addr, n uint64, off int64) (total uint64, err error) {
	n = min(n, mostIO)
	mem := t.Memory()
	for {
		var moved int
		want := min(n-total, largePiece)
		err = withBuffer(want, func(b []byte) (err error) {
			if in {
				if err := mem.In(b, addr+total); err != nil {
					return err
				}
			}
			if moved, err = move(b, off+int64(total)); moved > 0 && !in {
				if err := mem.Out(addr+total, b[:moved]); err != nil {
					return err
				}
			}
			return err
		})
		if moved > 0 {
			total += uint64(moved)
		}
		switch {
		case err == io.EOF:
			return total, nil
		case err != nil && total > 0:
			return total, nil
		case err != nil:
			return 0, err
		case uint64(moved) < want || total == n || t.Dying():
			return total, nil
		}
	}
}

func read(t *proc.Thread, a *Args) (uint64, error) {
	f, err := fileOf(t, a[0])
	if err != nil {
		return 0, err
	}
	return transfer(t, false, reader(t, f), a[1], a[2], 0)
}

func write(t *proc.Thread, a *Args) (uint64, error) {
	f, err := fileOf(t, a[0])
	if err != nil {
		return 0, err
	}
	n, err := transfer(t, true, writer(t, f), a[1], a[2], 0)
	return n, brokenPipe(t, err)
}

// brokenPipe sends SIGPIPE to who writes to a pipe that nobody reads.
func brokenPipe(t *proc.Thread, err error) error {
	if err != nil && errnoOf(err) == sys.EPIPE {
		t.Send(proc.SignalFrom(t.Process(), abi.SIGPIPE, abi.SI_USER))
	}
	return err
}

func pread64(t *proc.Thread, a *Args) (uint64, error) {
	f, err := fileOf(t, a[0])
	if err != nil {
		return 0, err
	}
	return transfer(t, false, f.ReadAt, a[1], a[2], int64(a[3]))
}

func pwrite64(t *proc.Thread, a *Args) (uint64, error) {
	f, err := fileOf(t, a[0])
	if err != nil {
		return 0, err
	}
	return transfer(t, true, f.WriteAt, a[1], a[2], int64(a[3]))
}

// vector moves bytes for each element of an array of Iovec in turn.
func vector(t *proc.Thread, a *Args, in bool, of func(*proc.Thread, *vfs.File) mover, off int64) (total uint64, err error) {
	f, err := fileOf(t, a[0])
	if err != nil {
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
		if v.Len > mostIO {
			return 0, sys.EINVAL
		}
	}
	move := of(t, f)
	for _, v := range iov {
		n, err := transfer(t, in, move, v.Base, v.Len, off+int64(total))
		total += n
		if err != nil && total == 0 {
			return 0, err
		}
		if n < v.Len {
			break
		}
	}
	return total, nil
}

func readv(t *proc.Thread, a *Args) (uint64, error) { return vector(t, a, false, reader, 0) }

func writev(t *proc.Thread, a *Args) (uint64, error) {
	n, err := vector(t, a, true, writer, 0)
	return n, brokenPipe(t, err)
}

func preadv(t *proc.Thread, a *Args) (uint64, error) {
	return vector(t, a, false, func(_ *proc.Thread, f *vfs.File) mover { return f.ReadAt }, int64(a[3]))
}

func pwritev(t *proc.Thread, a *Args) (uint64, error) {
	return vector(t, a, true, func(_ *proc.Thread, f *vfs.File) mover { return f.WriteAt }, int64(a[3]))
}

func lseek(t *proc.Thread, a *Args) (uint64, error) {
	f, err := fileOf(t, a[0])
	if err != nil {
		return 0, err
	}
	at, err := f.Seek(int64(a[1]), asInt(a[2]))
	return uint64(at), err
}

// sendfile copies from one file to another, from *off on if there is one.
func sendfile(t *proc.Thread, a *Args) (uint64, error) {
	to, err := fileOf(t, a[0])
	if err != nil {
		return 0, err
	}
	from, err := fileOf(t, a[1])
	if err != nil {
		return 0, err
	}
	off, placed, err := getIf[int64](t, a[2])
	if err != nil {
		return 0, err
	}
	src := reader(t, from)
	if placed {
		src = from.ReadAt
	}
	n, err := pass(t, src, writer(t, to), min(a[3], mostIO), off)
	if placed {
		err = firstError(err, put(t, a[2], off+int64(n)))
	}
	return n, brokenPipe(t, err)
}

func firstError(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// pass moves up to n bytes from src to dst, fewer when there is a signal or src has no
// more at present: the end that a terminal or pipe tells of once is the next reader's
// to see. off is for those of the two that look at it.
func pass(t *proc.Thread, src, dst mover, n uint64, off int64) (total uint64, err error) {
	for total < n && err == nil && (total == 0 || !t.Wanted()) {
		err = withBuffer(min(n-total, largePiece), func(b []byte) error {
			got, err := src(b, off+int64(total))
			if got == 0 {
				return firstError(err, io.EOF)
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
