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
	return len(p.buf)
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
	switch more := size - len(p.buf); {
	case p.used > size:
		return syscall.EBUSY
	case more > 0 && taken.Load()+int64(more) > Most:
		return syscall.ENOMEM
	}
	p.capacity = size
	if p.buf == nil {
		return nil
	}
	buf := make([]byte, size)
	n := p.copyOut(buf)
	taken.Add(int64(size - len(p.buf)))
	p.buf, p.first, p.used = buf, 0, n
	return nil
}
