package vfs

import (
	"fmt"
	"io/fs"
	"syscall"
	"testing"
)

// TestXattrsAreBounded: each file may have 64 KiB of them, and a program can make many files.
func TestXattrsAreBounded(t *testing.T) {
	f := New()
	root := f.RootPlace()
	before := xattrsTaken.Load()
	value := make([]byte, 60<<10)
	var err error
	n := 0
	for ; err == nil && n <= 2*xattrsMost/len(value); n++ {
		if err := f.Mkdir(fmt.Sprint("d", n)); err != nil {
			t.Fatal(err)
		}
		err = set(t, f, fmt.Sprint("d", n), value)
	}
	if err != syscall.ENOSPC || n < xattrsMost/len(value)/2 {
		t.Errorf("%d directories, %v", n, err)
	}
	if err := set(t, f, "d0", value[:9]); err != nil {
		t.Errorf("a shorter value: %v", err)
	}
	for i := range n {
		if err := f.RmdirAt(root, fmt.Sprint("d", i)); err != nil {
			t.Error(err)
		}
	}
	if got := xattrsTaken.Load(); got != before {
		t.Errorf("%d bytes are taken without them", got-before)
	}
}

// set sets the attribute user.x of a file.
func set(t *testing.T, f *FS, name string, value []byte) error {
	t.Helper()
	p, err := f.PlaceAt(f.RootPlace(), name, false, false)
	if err != nil {
		t.Fatal(err)
	}
	return p.Node().(Attributed).SetXattr("user.x", value, false, false)
}

// TestXattrsGoWithTheFile: whatever kind of file it is, and however it goes.
func TestXattrsGoWithTheFile(t *testing.T) {
	f := New()
	root := f.RootPlace()
	before := xattrsTaken.Load()
	file, err := f.OpenFile("/x", O_CREAT|O_RDWR)
	if err != nil {
		t.Fatal(err)
	}
	f.SymlinkAt("x", root, "link")
	f.AddAt(root, "fifo", struct{ Anonymous }{NewNode(fs.ModeNamedPipe)})
	for _, name := range []string{"x", "link", "fifo"} {
		if err := set(t, f, name, []byte("value")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		f.UnlinkAt(root, name)
	}
	attributed := file.Node().(Attributed)
	if v, err := attributed.Xattr("user.x"); string(v) != "value" || err != nil {
		t.Errorf("while it is open: %q, %v", v, err)
	}
	if err := attributed.RemoveXattr("user.x"); err != nil {
		t.Error(err)
	}
	attributed.SetXattr("user.y", []byte("value"), false, false)
	file.Close()
	if got := xattrsTaken.Load(); got != before {
		t.Errorf("%d bytes are left", got-before)
	}
	for what, n := range map[string]Attributed{"the file": attributed, "a pipe": NewAnonymous(fs.ModeNamedPipe)} {
		if err := n.SetXattr("trusted.x", nil, false, false); err != syscall.EOPNOTSUPP {
			t.Errorf("%s, which has no name: %v", what, err)
		}
	}
}
