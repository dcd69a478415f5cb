package vfs

import (
	"errors"
	"io/fs"
	"syscall"
	"testing"
)

// TestUnnamedFile: a file made by O_TMPFILE ends when it is closed, or gets one name.
func TestUnnamedFile(t *testing.T) {
	f := New()
	open := func(flag int) (*File, error) { return f.OpenAt(f.RootPlace(), "/", O_TMPFILE|flag, 0600) }
	file, err := open(O_RDWR)
	if err != nil {
		t.Fatal(err)
	}
	if names, _ := f.readDir("/"); len(names) != 0 {
		t.Errorf("it has a name: %v", names)
	}
	file.Write([]byte("text"))
	if _, used := f.Usage(); used == 0 {
		t.Error("it holds nothing")
	}
	file.Close()
	if _, used := f.Usage(); used != 0 {
		t.Errorf("closed, it holds %d pages", used)
	}

	file, _ = open(O_RDWR)
	file.Write([]byte("text"))
	link := func(file *File, name string) error { return f.LinkFile(file, f.RootPlace(), name) }
	if err := link(file, "/x"); err != nil {
		t.Error(err)
	}
	file.Close()
	if b, err := f.readFile("/x"); string(b) != "text" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
	other, _ := open(O_RDWR | O_EXCL)
	if err := link(other, "/y"); !errors.Is(err, syscall.ENOENT) {
		t.Errorf("with O_EXCL it gets a name: %v", err)
	}
	f.MkdirAll("/sealed", 0555)
	for _, tt := range []struct {
		path string
		flag int
		want error
	}{{"/", O_RDONLY, syscall.EINVAL}, {"/nowhere", O_RDWR, fs.ErrNotExist}, {"/x", O_RDWR, syscall.ENOTDIR}, {"/sealed", O_RDWR, syscall.EACCES}} {
		if _, err := f.OpenAt(f.RootPlace(), tt.path, O_TMPFILE|tt.flag, 0600); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.path, err, tt.want)
		}
	}
}

func TestMemFile(t *testing.T) {
	f := New()
	file, err := f.NewMemFile("name")
	if err != nil {
		t.Fatal(err)
	}
	file.WriteAt([]byte("x"), 5000)
	if _, err := file.Backing(); err != nil || file.Size() != 5001 || file.Name() != "/memfd:name (deleted)" {
		t.Error(err, file.Size(), file.Name())
	}
	file.Close()
	if _, used := f.Usage(); used != 0 {
		t.Errorf("closed, it holds %d pages", used)
	}
}
