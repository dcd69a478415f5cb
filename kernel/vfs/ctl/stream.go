package ctl

import (
	"io"
	"sync"
	"syscall"

	"sonde/kernel/poll"
	"sonde/kernel/vfs"
)

// Stream is a read-only file whose text comes bit by bit: a read waits until there is some. The
// function is called for each open file, and returns what that one reads.
type Stream func() (Feed, error)

// A Feed makes the text of one open Stream. It is polled for In when there is text, and for Hup
// when there will be no more.
type Feed interface {
	poll.Source
	// Next appends the next text to room, if there is any. Only one goroutine at a time calls it.
	Next(room []byte) []byte
	Close() error
}

// Stat implements vfs.Node.
func (s Stream) Stat() vfs.Info { return vfs.Info{Mode: 0444} }

// Open implements vfs.Opener.
//
// Errors: those of the function.
func (s Stream) Open(int) (vfs.Handle, error) {
	feed, err := s()
	if err != nil {
		return nil, err
	}
	return &streamHandle{feed: feed}, nil
}

// streamHandle is an open Stream. It implements vfs.Unreader, vfs.Handle and poll.Source.
type streamHandle struct {
	vfs.Stream
	feed Feed

	mu sync.Mutex
	// guarded by mu:
	room, rest []byte // rest, the end of room, has not been read yet
}

// ReadAt implements vfs.Handle.
//
// Errors: EAGAIN if there is no text yet, io.EOF if there will be none.
func (h *streamHandle) ReadAt(p []byte, _ int64) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.rest) == 0 {
		over := h.feed.Poll()&poll.Hup != 0 // in front of Next, so that nothing comes after it
		h.room = h.feed.Next(h.room[:0])
		h.rest = h.room
		switch {
		case len(h.rest) > 0:
		case over:
			return 0, io.EOF
		default:
			return 0, syscall.EAGAIN
		}
	}
	n := copy(p, h.rest)
	h.rest = h.rest[n:]
	return n, nil
}

func (h *streamHandle) Unread(p []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.rest = append(append([]byte(nil), p...), h.rest...)
}

func (h *streamHandle) WriteAt([]byte, int64) (int, error) { return 0, syscall.EBADF }
func (h *streamHandle) Close() error                       { return h.feed.Close() }

func (h *streamHandle) Poll() poll.Events {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.rest) > 0 {
		return h.feed.Poll() | poll.In
	}
	return h.feed.Poll()
}

func (h *streamHandle) Queue() *poll.Queue { return h.feed.Queue() }
