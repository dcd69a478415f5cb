package pipe

import (
	"io/fs"

	"sonde/kernel/poll"
	"sonde/kernel/vfs"
)

// NewFIFO returns a pipe that gets its name from vfs.FS.AddAt and is opened by that name. An end
// whose opening has to wait for the other end has a Peer.
func NewFIFO(perm fs.FileMode) vfs.Node {
	return &pipe{Anonymous: vfs.NewNode(fs.ModeNamedPipe | perm), capacity: Capacity, named: true}
}

// noFIFO is the count of other ends for a pipe that has both ends from the start.
const noFIFO = ^uint64(0)

// peer is ready when an end has a counterpart, or had one since it was opened. It implements poll.Source.
type peer struct {
	pipe   *pipe
	other  int // index in came
	before uint64
}

// Peer returns a source that is ready when the FIFO is open for writing; nil if there is nothing to
// wait for.
func (r *readEnd) Peer() poll.Source { return r.pipe.awaited(peer{r.pipe, 1, r.before}) }

// Peer returns a source that is ready when the FIFO is open for reading.
func (w *writeEnd) Peer() poll.Source { return w.pipe.awaited(peer{w.pipe, 0, w.before}) }

func (p *pipe) awaited(other peer) poll.Source {
	if !p.named || other.Poll() != 0 {
		return nil
	}
	return other
}

func (o peer) Poll() poll.Events {
	p := o.pipe
	p.mu.Lock()
	defer p.mu.Unlock()
	if [...]int{p.readers, p.writers}[o.other] > 0 || p.came[o.other] != o.before {
		return poll.In
	}
	return 0
}

func (o peer) Queue() *poll.Queue { return &o.pipe.queue }

// bothEnds is a FIFO that was opened for reading and writing. It implements poll.Source and vfs.Handle.
type bothEnds struct{ *readEnd }

// Peer returns nil: both ends exist.
func (*bothEnds) Peer() poll.Source { return nil }

func (b *bothEnds) writer() *writeEnd { return &writeEnd{pipe: b.pipe, before: noFIFO} }

// WriteAt implements vfs.Handle. Errors: EAGAIN.
func (b *bothEnds) WriteAt(src []byte, off int64) (int, error) { return b.writer().WriteAt(src, off) }

func (b *bothEnds) Poll() poll.Events { return b.readEnd.Poll() | b.writer().Poll() }

func (b *bothEnds) Close() error {
	b.readEnd.Close()
	return b.writer().Close()
}
