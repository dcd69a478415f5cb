package shell

import (
	"errors"
	"syscall"
	"testing"

	"sonde/kernel/vfs"
)

// endless is a file like /dev/zero, which says that it has no bytes.
type endless struct{ read int }

func (e *endless) Stat() vfs.Info                     { return vfs.Info{Mode: 0o444} }
func (e *endless) Open(int) (vfs.Handle, error)       { return e, nil }
func (e *endless) WriteAt([]byte, int64) (int, error) { return 0, syscall.EBADF }
func (e *endless) Close() error                       { return nil }
func (e *endless) ReadAt(p []byte, _ int64) (n int, err error) {
	if e.read += len(p); e.read > 1<<20 {
		return 0, syscall.EIO
	}
	return len(p), nil
}

// TestEndlessFiles: of a file without an end, as much is read as is wanted.
func TestEndlessFiles(t *testing.T) {
	e := new(endless)
	if err := vfs.Bind("/endless", e); err != nil {
		t.Fatal(err)
	}
	defer vfs.Root.Unbind("/endless")
	if b, err := readUpTo("/endless", 1000); len(b) != 1000 || err != nil {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	if _, err := readWhole("/endless", 1000); !errors.Is(err, syscall.EFBIG) {
		t.Error(err)
	}
	if err := vfs.WriteFile("/thousand", make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	defer vfs.Root.UnlinkAt(vfs.Root.RootPlace(), "/thousand")
	if b, err := readWhole("/thousand", 1000); len(b) != 1000 || err != nil {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	if _, err := readWhole("/thousand", 999); !errors.Is(err, syscall.EFBIG) {
		t.Error(err)
	}
}
