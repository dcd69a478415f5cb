package pipe

import (
	"io"
	"syscall"

	"sonde/kernel/vfs"
)

// End is an end of a pipe as splice and tee see it.
type End interface {
	// Room returns how many bytes fit without waiting, at least those of a write in one
	// piece; 0 if these do not fit. Errors: EPIPE when nobody reads.
	Room() (int, error)
	// Peek copies what Read would take, and leaves it there. Errors: EAGAIN when there is
	// nothing, io.EOF when it stays so.
	Peek(dst []byte) (int, error)

	shared() *pipe
}

// EndOf returns the end of a pipe that f is.
func EndOf(f *vfs.File) (e End, ok bool) {
	e, ok = f.Handle().(End)
	return e, ok
}

// Same reports whether two ends are of one pipe.
func Same(a, b End) bool { return a.shared() == b.shared() }

func (p *pipe) shared() *pipe { return p }

// Room implements End.
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

// Peek implements End.
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
