package shell

import (
	"errors"
	"io"
	"strings"
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

// upper is a file with nothing below 8, where it cannot be read, as the memory of a program.
type upper struct{ endless }

func (u *upper) Open(int) (vfs.Handle, error) { return u, nil }
func (u *upper) ReadAt(p []byte, off int64) (n int, err error) {
	if off < 8 {
		return 0, syscall.EIO
	}
	return copy(p, "upper"), nil
}

// TestSkipToSeeks: hexdump -s does not read what it leaves out where it can seek, and reads it where it cannot.
func TestSkipToSeeks(t *testing.T) {
	if err := vfs.Bind("/upper", new(upper)); err != nil {
		t.Fatal(err)
	}
	defer vfs.Root.Unbind("/upper")
	f, err := vfs.Open("/upper", vfs.O_RDONLY)
	if err != nil {
		t.Fatal(err)
	}
	defer vfs.Close(f)
	c := &Context{Machine: fakeMachine()}
	for want, r := range map[string]io.Reader{"upper": f, "89abc": strings.NewReader("0123456789abc")} {
		b := make([]byte, 5)
		err := skipTo(interruptible{c, r}, 8)
		if err == nil {
			_, err = io.ReadFull(interruptible{c, r}, b)
		}
		if err != nil || string(b) != want {
			t.Errorf("%q, %v; want %q", b, err, want)
		}
	}
}
