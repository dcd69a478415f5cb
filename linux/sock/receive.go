package sock

import (
	"syscall"

	"sonde/kernel/poll"
	"sonde/kernel/vfs"
)

// Want is what a receive call asks for.
type Want struct {
	Len  int  // bytes; of a message, at most so many
	Peek bool // leave the data in the inbox
	// Put stores b, which follows off bytes, and returns how many bytes it stored: fewer only with
	// an error. The rest stays in the inbox.
	Put func(off int, b []byte) (int, error)
}

// Received is the result of a receive call.
type Received struct {
	N     int         // bytes stored by Put
	Full  int         // length of the message; of a stream, N
	From  Addr        // of a datagram
	Cred  Cred        // of the sender; in a stream, that of the first byte's sender
	Files []*vfs.File // to be closed by the receiver
}

// Receive returns data from the inbox: of a stream, up to the end of the bytes that came with
// files, or to bytes of another sender; of other kinds, one message. No bytes and no error mean the
// end of a stream or connection, or an empty message.
//
// Errors: EAGAIN if there is nothing; EINVAL, ENOTCONN for a socket that is not connected;
// ECONNRESET; those of Put if it stored nothing.
func (s *Socket) Receive(w Want) (Received, error) {
	s.reading.Lock()
	defer s.reading.Unlock()
	parts, r, err := s.look(w)
	if err != nil || len(parts) == 0 {
		return r, err
	}
	for _, p := range parts {
		n, err := w.Put(r.N, p)
		r.N += n
		if err != nil && r.N == 0 {
			return Received{}, err
		}
		if err != nil {
			break
		}
	}
	if s.kind == Stream {
		r.Full = r.N
	}
	r.Files = s.finish(w, r.N)
	return r, nil
}

// look returns the bytes for a receiver, piece by piece.
func (s *Socket) look(w Want) (parts [][]byte, r Received, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.inbox.messages) == 0 {
		return nil, r, s.nothing()
	}
	first := s.inbox.messages[0]
	r.Cred, r.Full = first.Cred, len(first.Data)
	if s.kind != Stream || !s.Internet() {
		r.From = first.from
	}
	n := 0
	for i, m := range s.inbox.messages {
		if i > 0 && (s.kind != Stream || n == w.Len || s.opts.PassCred && m.Cred != first.Cred) {
			break
		}
		p := m.Data[:min(w.Len-n, len(m.Data))]
		parts = append(parts, p)
		if n += len(p); len(m.Files) > 0 {
			break
		}
	}
	return parts, r, nil
}

// nothing returns why there is nothing to receive, nil at the end. Context: mu held.
func (s *Socket) nothing() error {
	switch {
	case s.err != 0:
		err := s.err
		s.err = 0
		return err
	case s.state == closed:
		return syscall.EBADF
	case s.ended && s.dialled == failed:
		return nil
	case s.state == connecting:
		return syscall.EAGAIN
	case s.kind == Stream && s.state != connected && s.Internet():
		return syscall.ENOTCONN
	case s.kind == Stream && s.state != connected:
		return syscall.EINVAL
	case s.kind == Seqpacket && s.state != connected:
		return syscall.ENOTCONN
	case s.ended:
		return nil
	}
	return syscall.EAGAIN
}

// finish removes n bytes, or a message, from the inbox, and returns the files that came with them.
// Context: reading held.
func (s *Socket) finish(w Want, n int) []*vfs.File {
	if w.Peek {
		return s.copyFiles(n)
	}
	files, peer, roomy := s.consume(n)
	unregister(files)
	if roomy {
		s.room.Notify(poll.Out)
		if peer != nil && s.kind.connects() {
			peer.queue.Notify(poll.Out)
		}
	}
	return files
}

// consume is finish; roomy says whether to tell senders that there is space.
func (s *Socket) consume(n int) (files []*vfs.File, peer *Socket, roomy bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := &s.inbox
	for first := true; len(b.messages) > 0 && (first || n > 0 && s.kind == Stream); first = false {
		m := b.messages[0]
		files, m.Files = append(files, m.Files...), nil
		part := min(n, len(m.Data))
		b.drop(part, s.kind != Stream || part == len(m.Data))
		n -= part
	}
	return files, s.peer, s.kind != Stream || b.roomy(s.kind, defaultBuffer)
}

// Unread implements vfs.Unreader. A message is lost, as in Linux.
func (s *Socket) Unread(p []byte) {
	if s.kind != Stream || len(p) == 0 {
		return
	}
	s.update(func() {
		if s.state != closed {
			s.inbox.putBack(&Message{Data: append([]byte(nil), p...), Cred: s.other})
		}
	})
}
