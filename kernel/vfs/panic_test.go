package vfs

import (
	"testing"
	"time"

	"sonde/internal/quick"
)

// panics calls f, which must panic.
func panics(t *testing.T, what string, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s: no panic", what)
		}
	}()
	f()
}

// TestPanicInAFileLeavesItUsable: after a panic while writing to a file, other writers and stat
// waited for ever.
func TestPanicInAFileLeavesItUsable(t *testing.T) {
	f := New()
	file, err := f.OpenFile("/x", O_CREAT|O_RDWR)
	if err != nil {
		t.Fatal(err)
	}
	r := file.node.(*regular)
	fs := r.pages.fs
	r.pages.fs = nil
	panics(t, "write", func() { file.Write([]byte("x")) })
	panics(t, "page", func() { r.size = 1; r.Frame(0) })
	r.pages.fs = fs
	r.pages.chunks = []*chunk{nil, new(chunk)}
	r.pages.chunks[1][0] = 1 // not a frame of the allocator
	r.size = 2 * chunkSize
	panics(t, "truncate", func() { file.Truncate(0) })
	r.pages.chunks, r.size = nil, 0
	done := make(chan bool)
	go func() {
		file.Write([]byte("x"))
		file.Truncate(0)
		file.Stat()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(quick.Hang):
		t.Fatal("a lock is still taken")
	}
}
