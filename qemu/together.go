package main

import (
	"bytes"
	"io"
	"sync"
)

// merged is a terminal, pipe or file that gets two streams and knows whether a line has ended.
type merged struct {
	mu sync.Mutex
	to io.Writer
	// guarded by mu:
	midLine bool // the output's last line has no end yet
}

// output passes bytes on at once; log passes whole lines on, and starts a line of its own for each.
type (
	output struct{ *merged }
	log    struct {
		*merged
		rest []byte
	}
)

// together returns writers for a script's output and for the log that share to, but no line of it.
// The caller flushes the log at the end.
func together(to io.Writer) (output, *log) {
	s := &merged{to: to}
	return output{s}, &log{merged: s}
}

func (o output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(b) > 0 {
		o.midLine = b[len(b)-1] != '\n'
	}
	return o.to.Write(b)
}

func (l *log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rest = append(l.rest, b...)
	end := bytes.LastIndexByte(l.rest, '\n') + 1
	if end == 0 {
		return len(b), nil
	}
	lines := l.rest[:end]
	l.rest = bytes.Clone(l.rest[end:])
	if l.midLine {
		lines = append([]byte("\n"), lines...)
		l.midLine = false
	}
	_, err := l.to.Write(lines)
	return len(b), err
}

// flush shows a last line that has no end.
func (l *log) flush() {
	if len(l.rest) > 0 {
		l.Write([]byte("\n"))
	}
}
