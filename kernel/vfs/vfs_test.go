package vfs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/fstest"
)

func write(t *testing.T, f *FS, name string, flag int, text string) {
	t.Helper()
	file, err := f.OpenFile(name, os.O_WRONLY|os.O_CREATE|flag)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Write(file, []byte(text), nil); err != nil {
		t.Fatal(err)
	}
	if err := Close(file); err != nil {
		t.Fatal(err)
	}
}

func TestTreeIsAnFS(t *testing.T) {
	f := newRoot()
	write(t, f, "/tmp/a", 0, "hello\n")
	write(t, f, "/tmp/empty", 0, "")
	if err := f.MkdirAll("/proc/sys/debug", 0555); err != nil {
		t.Fatal(err)
	}
	write(t, f, "/top", 0, strings.Repeat("x", 10000))
	if err := fstest.TestFS(f, "tmp/a", "tmp/empty", "proc/sys/debug", "top"); err != nil {
		t.Error(err)
	}
}

func TestWritesReplaceOrAppend(t *testing.T) {
	f := newRoot()
	write(t, f, "/tmp/x", os.O_TRUNC, "first\n")
	write(t, f, "/tmp/x", os.O_APPEND, "second\n")
	if got, err := f.readFile("/tmp/x"); string(got) != "first\nsecond\n" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	write(t, f, "/tmp/x", os.O_TRUNC, "new\n")
	if got, err := f.readFile("/tmp/../tmp/./x"); string(got) != "new\n" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	write(t, f, "/tmp/x", 0, "N")
	if got, _ := f.readFile("tmp/x"); string(got) != "New\n" {
		t.Errorf("got %q", got)
	}
}

func TestRefusalsHaveTheirErrno(t *testing.T) {
	f := newRoot()
	write(t, f, "/tmp/x", 0, "x")
	if err := f.MkdirAll("/proc", 0555); err != nil {
		t.Fatal(err)
	}
	open := func(name string, flag int) error {
		_, err := f.OpenFile(name, flag)
		return err
	}
	f.Mkdir("/tmp/d")
	write(t, f, "/tmp/d/y", 0, "y")
	tests := []struct {
		name string
		err  error
		want error
	}{
		{"open what is not there", open("/nope", 0), syscall.ENOENT},
		{"not there, for io/fs", open("/nope", 0), fs.ErrNotExist},
		{"path through a file", open("/tmp/x/y", 0), syscall.ENOTDIR},
		{"write a directory", open("/tmp", os.O_WRONLY), syscall.EISDIR},
		{"create in /proc", open("/proc/x", os.O_WRONLY|os.O_CREATE), syscall.EACCES},
		{"exclusive", open("/tmp/x", os.O_WRONLY|os.O_CREATE|os.O_EXCL), syscall.EEXIST},
		{"mkdir twice", f.Mkdir("/tmp/x"), syscall.EEXIST},
		{"mkdir in nothing", f.Mkdir("/a/b"), syscall.ENOENT},
		{"mkdir in /proc", f.Mkdir("/proc/x"), syscall.EACCES},
		{"mkdir of the root", f.Mkdir("/"), syscall.EEXIST},
		{"mkdir in a file", f.Mkdir("/tmp/x/y"), syscall.ENOTDIR},
		{"remove full directory", f.Remove("/tmp/d"), syscall.ENOTEMPTY},
		{"remove nothing", f.Remove("/tmp/no"), syscall.ENOENT},
		{"bind twice", f.Bind("/tmp/x", f.newDir(0)), syscall.EEXIST},
	}
	for _, tt := range tests {
		if !errors.Is(tt.err, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, tt.err, tt.want)
		}
	}
}

func TestFileIsUsedOnlyAsOpened(t *testing.T) {
	f := newRoot()
	write(t, f, "/tmp/x", 0, "x")
	r, _ := f.OpenFile("/tmp/x", os.O_RDONLY)
	if _, err := Write(r, nil, nil); !errors.Is(err, syscall.EBADF) {
		t.Errorf("write: %v", err)
	}
	w, _ := f.OpenFile("/tmp/x", os.O_WRONLY)
	if _, err := Read(w, nil, nil); !errors.Is(err, syscall.EBADF) {
		t.Errorf("read: %v", err)
	}
	d, _ := f.OpenFile("/tmp", os.O_RDONLY)
	if _, err := Read(d, make([]byte, 1), nil); !errors.Is(err, syscall.EISDIR) {
		t.Errorf("read a directory: %v", err)
	}
	Close(r)
	if _, err := Read(r, make([]byte, 1), nil); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("read after close: %v", err)
	}
	if err := Close(r); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("close twice: %v", err)
	}
}

func TestRemovedFileStaysForWhoHasItOpen(t *testing.T) {
	f := newRoot()
	write(t, f, "/tmp/x", 0, "still here")
	r, _ := f.OpenFile("/tmp/x", os.O_RDONLY)
	if err := f.Remove("/tmp/x"); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); string(got) != "still here" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := f.stat("/tmp/x", true); !errors.Is(err, syscall.ENOENT) {
		t.Errorf("stat: %v", err)
	}
}

func TestUnbindTakesAWholeDirectory(t *testing.T) {
	f := New()
	if err := f.Bind("/sys/kernel/debug/kprobes/list", newSymlink("x")); err != nil {
		t.Fatal(err)
	}
	if err := f.Unbind("/sys/kernel/debug/kprobes"); err != nil {
		t.Fatal(err)
	}
	if got, err := f.readDir("/sys/kernel/debug"); len(got) != 0 || err != nil {
		t.Errorf("left: %v, %v", got, err)
	}
}

func TestFileCannotOutgrowTheLimit(t *testing.T) {
	f := newRoot()
	file, _ := f.OpenFile("/tmp/x", os.O_WRONLY|os.O_CREATE)
	file.Seek(MaxFile, io.SeekStart)
	if _, err := Write(file, []byte("x"), nil); !errors.Is(err, syscall.EFBIG) {
		t.Errorf("got %v, want EFBIG", err)
	}
}

func TestManyWritersAppendWhole(t *testing.T) {
	f := newRoot()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				write(t, f, "/tmp/x", os.O_APPEND, "0123456789\n")
			}
		})
	}
	wg.Wait()
	got, _ := f.readFile("/tmp/x")
	if string(got) != strings.Repeat("0123456789\n", 400) {
		t.Errorf("%d bytes, or mixed", len(got))
	}
}
