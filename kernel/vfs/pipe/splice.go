package pipe

import (
	"io"
	"syscall"

	"sonde/kernel/vfs"
)

// End is an end of a pipe as splice and tee see it.
type End interface {
	// Room returns how many bytes fit without waiting; 0 if an atomic write does not fit.
	// Errors: EPIPE if there is no reader.
	Room() (int, error)
	// Peek copies the bytes that Read would return, and leaves them in the pipe. Errors: EAGAIN if
	// there is nothing, io.EOF if it will stay so.
	Peek(dst []byte) (int, error)

	shared() *pipe
}

// EndOf returns f as the end of a pipe, if it is one.
func EndOf(f *vfs.File) (e End, ok bool) {
	e, ok = f.Handle().(End)
	return e, ok
}

// Same reports whether two ends belong to the same pipe.
func Same(a, b End) bool { return a.shared() == b.shared() }

func (p *pipe) shared() *pipe { return p }

func (p *pipe) Room() (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.readers == 0 {
		return 0, syscall.EPIPE
	}
	if room := p.room(); room >= Atomic {
		return room, nil
	}
	return 0, nil
}

func (p *pipe) Peek(dst []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.used > 0:
	case p.writers == 0:
		return 0, io.EOF
	default:
		return 0, syscall.EAGAIN
	}
	n := copy(dst, p.buf[p.first:min(p.first+p.used, len(p.buf))])
	if rest := p.used - n; rest > 0 {
		n += copy(dst[n:], p.buf[:min(rest, p.first)])
	}
	return n, nil
}
