package vfs

import (
	"errors"
	"sync"
	"syscall"
	"testing"
)

// TestOpenFindsOldOrNew: a file that another one replaces while it is opened has its contents, or
// the contents of the other one. It is never empty.
func TestOpenFindsOldOrNew(t *testing.T) {
	f := New()
	write := func(name string) {
		file, err := f.OpenFile(name, O_CREAT|O_RDWR)
		if err != nil {
			t.Fatal(err)
		}
		file.Write([]byte("contents"))
		file.Close()
	}
	write("/x")
	var wg sync.WaitGroup
	stop := make(chan bool)
	for range 3 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if b, err := f.ReadFile("x"); string(b) != "contents" || err != nil {
					t.Errorf("%q, %v", b, err)
					return
				}
			}
		})
	}
	root := f.RootPlace()
	for range 20_000 {
		write("/new")
		if err := f.RenameAt(root, "new", root, "x", Replace); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	wg.Wait()
}

// TestRemovedFileStaysEmpty: a write that begins before the last close of a removed file, and ends
// after it, must not leave pages that nothing frees.
func TestRemovedFileStaysEmpty(t *testing.T) {
	f := New()
	file, err := f.OpenFile("/x", O_CREAT|O_RDWR)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Remove("x"); err != nil {
		t.Fatal(err)
	}
	h, place := file.Handle(), file.Place()
	file.Close()
	if n, err := h.WriteAt([]byte("late"), 0); n != 0 || err != syscall.EBADF {
		t.Errorf("write: %d, %v", n, err)
	}
	if _, used := f.Usage(); used != 0 || f.Frames() != 0 {
		t.Errorf("%d pages and %d frames are used", used, f.Frames())
	}
	if _, err := place.Node().(Opener).Open(O_RDWR); !errors.Is(err, syscall.ENOENT) {
		t.Errorf("open: %v", err)
	}
}

// TestNoNameForAFileThatIsGone: a file that was made without a name cannot get one after its last
// close.
func TestNoNameForAFileThatIsGone(t *testing.T) {
	f := New()
	file, err := f.OpenFile("/", O_TMPFILE|O_RDWR)
	if err != nil {
		t.Fatal(err)
	}
	file.Close()
	if err := f.LinkFile(file, f.RootPlace(), "x"); !errors.Is(err, syscall.ENOENT) {
		t.Errorf("link: %v", err)
	}
	if _, used := f.Usage(); used != 0 {
		t.Errorf("%d pages are used", used)
	}
}
