package pipe

import (
	"syscall"

	"sonde/kernel/poll"
)

// Resizer is an end of a pipe whose capacity fcntl can read and set.
type Resizer interface {
	Size() int
	Resize(bytes int) (int, error)
}

// Size returns how many bytes the pipe holds.
func (p *pipe) Size() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.size()
}

// size is Size. Context: mu held.
func (p *pipe) size() int {
	if p.buf == nil {
		return p.capacity
	}
	return p.limit
}

// Resize makes the pipe hold at least that many bytes, and returns the new capacity: a power of
// two, and no less than Atomic.
//
// Errors: EINVAL beyond 2 GiB; EBUSY if more bytes are in the pipe already; ENOMEM.
// Source: Linux, fcntl(2), F_SETPIPE_SZ.
func (p *pipe) Resize(bytes int) (int, error) {
	if bytes < 0 || bytes > 1<<31 {
		return 0, syscall.EINVAL
	}
	size := Atomic
	for size < bytes {
		size *= 2
	}
	if err := p.resize(size); err != nil {
		return 0, err
	}
	p.queue.Notify(poll.Out)
	return size, nil
}

func (p *pipe) resize(size int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	more := int64(size - len(p.buf))
	if p.used > size {
		return syscall.EBUSY
	}
	// It is counted first: other pipes may be resized at the same time.
	if now := taken.Add(more); more > 0 && now > Most {
		taken.Add(-more)
		return syscall.ENOMEM
	}
	p.capacity = size
	if p.buf == nil {
		taken.Add(-more)
		return nil
	}
	buf := make([]byte, size)
	n := p.copyOut(buf)
	p.buf, p.limit, p.first, p.used = buf, size, 0, n
	return nil
}
