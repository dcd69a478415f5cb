package shell

import (
	"io"
	"os"
	"syscall"

	"sonde/kernel/refusal"
	"sonde/kernel/vfs"
)

// readUpTo reads a file, but no more than so many bytes: what its size is, it may not say, and it may have no end.
func readUpTo(path string, most int64) ([]byte, error) {
	f, err := vfs.Open(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer vfs.Close(f)
	return io.ReadAll(io.LimitReader(f, most))
}

// readWhole is readUpTo for a file that may have as many bytes.
//
// Errors: EFBIG it has more.
func readWhole(path string, most int64) ([]byte, error) {
	b, err := readUpTo(path, most+1)
	if err == nil && int64(len(b)) > most {
		return nil, refusal.New(syscall.EFBIG, "%s has more than %d bytes", path, most)
	}
	return b, err
}

// interruptible is a reader that ^C ends. It implements io.Reader.
type interruptible struct {
	c *Context
	r io.Reader
}

func (i interruptible) Read(p []byte) (int, error) {
	if i.c.Interrupted() {
		return 0, Status(statusInterrupted)
	}
	return i.r.Read(p)
}

// Seek implements io.Seeker. Errors: ESPIPE r is no file, or one in which one cannot seek.
func (i interruptible) Seek(off int64, whence int) (int64, error) {
	if s, ok := i.r.(io.Seeker); ok {
		return s.Seek(off, whence)
	}
	return 0, syscall.ESPIPE
}

// Close implements io.Closer, for a file.
func (i interruptible) Close() error { return vfs.Close(i.r.(*vfs.File)) }
