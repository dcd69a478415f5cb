// Package pipe makes pipes, with a buffer of 64 KiB or the size set by Resize.
//
// Writes of up to PIPE_BUF bytes are atomic, as POSIX requires. Writing returns EPIPE if
// all reading ends are closed (the caller sends the signal). Reading returns the end of the
// file if the pipe is empty and all writing ends are closed.
//
// The buffer is allocated at the first write and freed when both ends are closed. The total
// size of all buffers is limited: beyond that, a pipe holds only one page.
package pipe

import (
	"io"
	"io/fs"
	"sync"
	"sync/atomic"
	"syscall"

	"sonde/kernel/lock"
	"sonde/kernel/poll"
	"sonde/kernel/vfs"
)

// Sizes in bytes, as in Linux.
const (
	Capacity = 64 << 10
	Atomic   = 4096    // PIPE_BUF
	Surely   = 1 << 20 // the default of /proc/sys/fs/pipe-max-size

	Most = 16 << 20 // of all buffers; beyond that, new ones have Atomic bytes
)

// taken is the size of all buffers in bytes.
var taken atomic.Int64

// pipe is what the two ends share. It implements End.
type pipe struct {
	vfs.Anonymous
	queue poll.Queue // of both ends

	mu sync.Mutex
	// guarded by mu:
	buf              []byte // nil, or a ring of limit bytes, or of more after takeBack
	limit            int    // up to which writers fill buf: capacity or Atomic
	capacity         int    // of the next buffer
	first, used      int
	readers, writers int
	came             [2]uint64 // how many ends have been opened: for reading, for writing
	named            bool      // a FIFO
}

// New returns the two ends of a pipe, open. flag is O_NONBLOCK or 0.
func New(flag int) (r, w *vfs.File) {
	p := &pipe{capacity: Capacity, readers: 1, writers: 1, came: [2]uint64{1, 1}}
	p.Anonymous = vfs.NewAnonymous(fs.ModeNamedPipe | 0600)
	name := p.Name("pipe")
	r = vfs.NewFile(name, p, &readEnd{pipe: p, before: noFIFO}, vfs.O_RDONLY|flag&vfs.O_NONBLOCK)
	w = vfs.NewFile(name, p, &writeEnd{pipe: p, before: noFIFO}, vfs.O_WRONLY|flag&vfs.O_NONBLOCK)
	return r, w
}

// Open implements vfs.Opener: it adds an end, for a program that opens the pipe in /proc, or a
// FIFO.
//
// Errors: ENXIO for O_NONBLOCK if a FIFO has no reader.
func (p *pipe) Open(flag int) (vfs.Handle, error) {
	h, err := p.open(flag)
	if err == nil {
		p.queue.Notify(poll.In | poll.Out) // for programs that wait for the other end
	}
	return h, err
}

func (p *pipe) open(flag int) (vfs.Handle, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	access := flag & (vfs.O_WRONLY | vfs.O_RDWR)
	if access == vfs.O_WRONLY && p.named && p.readers == 0 && flag&vfs.O_NONBLOCK != 0 {
		return nil, syscall.ENXIO
	}
	read, write := &readEnd{pipe: p, before: noFIFO}, &writeEnd{pipe: p, before: noFIFO}
	if p.named && p.writers == 0 {
		read.before = p.came[1]
	}
	if p.named && p.readers == 0 {
		write.before = p.came[0]
	}
	if access != vfs.O_WRONLY {
		p.readers++
		p.came[0]++
	}
	if access != vfs.O_RDONLY {
		p.writers++
		p.came[1]++
	}
	switch access {
	case vfs.O_RDONLY:
		return read, nil
	case vfs.O_WRONLY:
		return write, nil
	}
	return &bothEnds{readEnd: read}, nil
}

// newBuffer allocates a buffer of n bytes.
func newBuffer(n int) []byte {
	if taken.Load()+int64(n) > Most {
		n = Atomic
	}
	taken.Add(int64(n))
	return make([]byte, n)
}

// room is how many more bytes fit. Context: mu held.
func (p *pipe) room() int { return max(0, p.size()-p.used) }

// Queue implements poll.Source, for both ends.
func (p *pipe) Queue() *poll.Queue { return &p.queue }

// Buffered returns how many bytes can be read, for FIONREAD.
func (p *pipe) Buffered() int { return lock.Get(&p.mu, &p.used) }

// readEnd is the end for reading. It implements vfs.Unreader, poll.Source and vfs.Handle.
type readEnd struct {
	vfs.Stream
	*pipe
	before uint64 // number of write ends that had been opened, if none was open when this one was opened
}

// ReadAt implements vfs.Handle.
//
// Errors: EAGAIN if it is empty, io.EOF if it will stay empty.
func (r *readEnd) ReadAt(dst []byte, _ int64) (int, error) {
	n, room, err := r.take(dst)
	if room {
		r.queue.Notify(poll.Out)
	}
	return n, err
}

// take reads, and reports whether a writer can continue afterwards.
func (p *pipe) take(dst []byte) (n int, room bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.used > 0:
	case p.writers == 0:
		return 0, false, io.EOF
	default:
		return 0, false, syscall.EAGAIN
	}
	n = p.copyOut(dst)
	return n, p.room() >= Atomic, nil
}

// copyOut moves bytes from the buffer to dst. Context: mu held.
func (p *pipe) copyOut(dst []byte) (n int) {
	n = copy(dst, p.buf[p.first:min(p.first+p.used, len(p.buf))])
	if n < len(dst) && n < p.used {
		n += copy(dst[n:], p.buf[:p.used-n])
	}
	p.used -= n
	if p.first += n; p.first >= len(p.buf) {
		p.first -= len(p.buf)
	}
	return n
}

func (r *readEnd) Unread(p []byte) {
	r.takeBack(p)
	r.queue.Notify(poll.In)
}

// takeBack puts bytes in front of the unread ones. If writers have filled the space meanwhile, the
// buffer grows, but they get no more space: otherwise it would grow each time.
func (p *pipe) takeBack(b []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.buf == nil {
		return // both ends are closed
	}
	if missing := len(b) - (len(p.buf) - p.used); missing > 0 {
		p.grow(missing)
	}
	p.first = (p.first - len(b) + len(p.buf)) % len(p.buf)
	copy(p.buf, b[copy(p.buf[p.first:], b):])
	p.used += len(b)
}

// grow makes the buffer n bytes longer. Context: mu held.
func (p *pipe) grow(n int) {
	buf := make([]byte, len(p.buf)+n)
	copy(buf[copy(buf, p.buf[p.first:]):], p.buf[:p.first])
	p.buf, p.first = buf, 0
	taken.Add(int64(n))
}

// WriteAt implements vfs.Handle. Errors: EBADF.
func (r *readEnd) WriteAt([]byte, int64) (int, error) { return 0, syscall.EBADF }

func (r *readEnd) Poll() (ev poll.Events) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.used > 0 {
		ev |= poll.In
	}
	if r.writers == 0 && r.came[1] != r.before { // a reader that waits for its first writer is not at the end
		ev |= poll.Hup
	}
	return ev
}

func (r *readEnd) Close() error {
	r.leave(&r.readers)
	r.queue.Notify(poll.Out | poll.Err)
	return nil
}

// writeEnd is the end for writing. It implements vfs.Handle.
type writeEnd struct {
	vfs.Stream
	*pipe
	before uint64 // as in readEnd
}

// ReadAt implements vfs.Handle. Errors: EBADF.
func (w *writeEnd) ReadAt([]byte, int64) (int, error) { return 0, syscall.EBADF }

// WriteAt implements vfs.Handle.
//
// Errors: EAGAIN if there is no space, for all of src if it is not longer than Atomic; EPIPE.
func (w *writeEnd) WriteAt(src []byte, _ int64) (int, error) {
	n, err := w.fill(src)
	if n > 0 {
		w.queue.Notify(poll.In)
	}
	return n, err
}

// fill writes src, or the part of it that fits.
func (p *pipe) fill(src []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	room := p.room()
	switch {
	case p.readers == 0:
		return 0, syscall.EPIPE
	case len(src) == 0:
		return 0, nil
	case room == 0 || room < len(src) && len(src) <= Atomic:
		return 0, syscall.EAGAIN
	}
	if p.buf == nil {
		p.buf = newBuffer(p.capacity)
		p.limit = len(p.buf)
	}
	src = src[:min(len(src), p.room())]
	at := (p.first + p.used) % len(p.buf)
	copy(p.buf, src[copy(p.buf[at:], src):])
	p.used += len(src)
	return len(src), nil
}

// Poll implements poll.Source. Writing is possible if an atomic write fits.
func (w *writeEnd) Poll() (ev poll.Events) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.room() >= Atomic {
		ev |= poll.Out
	}
	if w.readers == 0 {
		ev |= poll.Out | poll.Err
	}
	return ev
}

func (w *writeEnd) Close() error {
	w.leave(&w.writers)
	w.queue.Notify(poll.In | poll.Hup)
	return nil
}

// leave closes an end, which the counter ends counts, and frees the buffer when both sides are
// closed.
func (p *pipe) leave(ends *int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	*ends--
	if p.readers == 0 && p.writers == 0 {
		taken.Add(-int64(len(p.buf)))
		p.buf, p.first, p.used = nil, 0, 0
	}
}
