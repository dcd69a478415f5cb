package machine

import (
	"io"
	"slices"
	"sync"
)

// stream keeps all that was written to it and passes a copy on.
type stream struct {
	tee io.Writer // or nil

	mu sync.Mutex
	// guarded by mu:
	data    []byte
	closed  bool
	changed chan struct{} // closed and replaced on every change
}

func newStream(tee io.Writer) *stream { return &stream{tee: tee, changed: make(chan struct{})} }

// fill reads r to its end. A tee that fails gets no more, but r is read on:
// QEMU must not block.
func (s *stream) fill(r io.Reader) {
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		if n > 0 {
			s.add(buf[:n])
			if s.tee != nil {
				if _, err := s.tee.Write(buf[:n]); err != nil {
					s.tee = nil
				}
			}
		}
		if err != nil {
			s.close()
			return
		}
	}
}

func (s *stream) add(b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.data = append(s.data, b...)
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *stream) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	close(s.changed)
	s.changed = make(chan struct{})
}

// from returns what came from offset on, whether more can come, and a channel
// that is closed when there is something new.
func (s *stream) from(offset int) (data []byte, closed bool, changed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.data[offset:len(s.data):len(s.data)], s.closed, s.changed
}

func (s *stream) bytes() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.data)
}
