package device

import (
	"bytes"
	"errors"
	"io"
	"syscall"
	"testing"

	"sonde/kernel/vfs"
)

func TestDevicesGiveAndTakeWhatTheyShould(t *testing.T) {
	tree := vfs.New()
	if err := Mount(tree); err != nil {
		t.Fatal(err)
	}
	open := func(name string) *vfs.File {
		t.Helper()
		f, err := tree.OpenFile("/dev/"+name, vfs.O_RDWR)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	buf := bytes.Repeat([]byte{1}, 1000)
	if n, err := open("null").Read(buf); n != 0 || err != io.EOF {
		t.Errorf("null: %d, %v", n, err)
	}
	for _, name := range []string{"zero", "full"} {
		if n, err := open(name).Read(buf); n != 1000 || err != nil || bytes.Count(buf, []byte{0}) != 1000 {
			t.Errorf("%s: %d, %v", name, n, err)
		}
	}
	other := make([]byte, 1000)
	for _, name := range []string{"random", "urandom"} {
		n, err := open(name).Read(buf)
		open(name).Read(other)
		if n != 1000 || err != nil || bytes.Equal(buf, other) || bytes.Count(buf, []byte{0}) > 100 {
			t.Errorf("%s: %d, %v, or not at random", name, n, err)
		}
	}
	for name, want := range map[string]error{"null": nil, "zero": nil, "full": syscall.ENOSPC, "random": nil} {
		if n, err := open(name).Write(buf); !errors.Is(err, want) || (err == nil) != (n == 1000) {
			t.Errorf("%s takes %d, %v", name, n, err)
		}
	}
	if i := open("urandom").Info(); i.ModeBits() != vfs.S_IFCHR|0666 || i.RDev != 0x109 {
		t.Errorf("urandom: %o, %#x", i.ModeBits(), i.RDev)
	}
	if got, err := tree.ReadlinkAt(tree.RootPlace(), "/dev/fd"); got != "/proc/self/fd" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if err := Mount(tree); !errors.Is(err, syscall.EEXIST) {
		t.Errorf("twice: %v", err)
	}
}

// TestSeekLeadsNowhere: a seek on these devices succeeds and leads to 0.
func TestSeekLeadsNowhere(t *testing.T) {
	tree := vfs.New()
	if err := Mount(tree); err != nil {
		t.Fatal(err)
	}
	f, err := tree.OpenFile("/dev/full", vfs.O_RDWR)
	if err != nil {
		t.Fatal(err)
	}
	defer vfs.Close(f)
	f.Read(make([]byte, 9))
	for whence := range 5 {
		if at, err := f.Seek(-1<<60, whence); at != 0 || err != nil {
			t.Errorf("whence %d: %d, %v", whence, at, err)
		}
	}
	if _, err := f.Seek(0, 5); err == nil {
		t.Error("no such whence is taken")
	}
}
