package vfs

import (
	"io"
	"os"
	"sync"
	"syscall"
	"time"
)

// maxFile keeps a runaway redirection from eating the heap.
const maxFile = 16 << 20

// regular is a file in memory.
type regular struct {
	mu sync.RWMutex
	// guarded by mu:
	data    []byte
	modTime time.Time
}

// Stat implements Node.
func (r *regular) Stat() Info {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return Info{Mode: 0644, Size: int64(len(r.data)), ModTime: r.modTime}
}

// Open implements Opener.
func (r *regular) Open(flag int) (Handle, error) {
	if flag&os.O_TRUNC != 0 {
		r.mu.Lock()
		r.data, r.modTime = nil, time.Now()
		r.mu.Unlock()
	}
	return regularHandle{r, flag&os.O_APPEND != 0}, nil
}

type regularHandle struct {
	*regular
	atEnd bool // every write goes to the end
}

// ReadAt implements Handle.
func (h regularHandle) ReadAt(p []byte, off int64) (int, error) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if off >= int64(len(h.data)) {
		return 0, io.EOF
	}
	return copy(p, h.data[off:]), nil
}

// WriteAt implements Handle.
//
// Errors: EFBIG.
func (h regularHandle) WriteAt(p []byte, off int64) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.atEnd {
		off = int64(len(h.data))
	}
	end := off + int64(len(p))
	if end > maxFile {
		return 0, syscall.EFBIG
	}
	if grow := end - int64(len(h.data)); grow > 0 {
		h.data = append(h.data, make([]byte, grow)...)
	}
	h.modTime = time.Now()
	return copy(h.data[off:], p), nil
}

// Close implements Handle.
func (h regularHandle) Close() error { return nil }
