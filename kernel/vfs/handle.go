package vfs

import (
	"io"
)

// Opener is a node that can be read or written. Open gets only flags that its mode allows.
type Opener interface {
	Node
	Open(flag int) (Handle, error)
}

// Handle is an open file of an Opener. ReadAt returns io.EOF at the end, as io.ReaderAt does, but
// may return fewer bytes than asked for. ReadAt and WriteAt wait for locks only: if the file is not
// ready they return EAGAIN, and the handle is a poll.Source.
type Handle interface {
	ReadAt(p []byte, off int64) (int, error)
	WriteAt(p []byte, off int64) (int, error)
	Close() error
}

// Stream is embedded in a Handle whose bytes have no position: pipes, terminals. It ignores
// offsets, and seeking returns ESPIPE.
type Stream struct{}

func (Stream) stream() {}

// Shared is a Handle that is told about each Close except the last.
type Shared interface{ LetGo() }

// Placeless is embedded in a Handle whose bytes are the same at each position: seeking leads to 0,
// as in Linux's /dev/null.
type Placeless struct{}

func (Placeless) placeless() {}

// Appender is a Handle that can write at its end in one step, for O_APPEND. It also returns the new
// end.
type Appender interface {
	Append(p []byte) (n int, end int64, err error)
}

// Describer is a Handle that adds lines to /proc/PID/fdinfo, in Linux's format.
type Describer interface {
	Describe(w io.Writer)
}

// Zeroes is a Handle whose mappings are anonymous memory.
type Zeroes interface {
	MapsZeroes()
}

// Unreader is a Handle of a stream that takes back the last bytes that a reader got.
type Unreader interface {
	Unread(p []byte)
}
