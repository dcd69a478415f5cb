package shell

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"
	"sync"
	"syscall"

	"sonde/kernel/kthread"
	"sonde/kernel/poll"
	"sonde/kernel/refusal"
	"sonde/kernel/vfs"
	"sonde/kernel/vfs/pipe"
)

// MountCommand makes the file by which a program hands a command over to the kernel's shell:
//
//	write   two numbers of 4 bytes: how many bytes follow, and how many words the command has; these, each
//	        with a zero behind it; then what the command reads
//	write   anything more: ^C
//	read    parts of a kind (1 output, 2 errors, 3 the end), with how long they are, 4 bytes each; the last
//	        is the exit status
//
// Numbers are little-endian. When the file is closed, the command is interrupted.
func MountCommand(tree *vfs.FS, path string, shell func(out io.Writer) *Shell) error {
	return tree.Bind(path, handing{shell})
}

// handing is the file.
type handing struct{ shell func(io.Writer) *Shell }

// mostHanded is how many bytes a command may have, with what it reads.
const mostHanded = 1 << 20

// The kinds of parts.
const (
	handedOut = 1 + iota
	handedErr
	handedEnd
)

func (handing) Stat() vfs.Info { return vfs.Info{Mode: 0o600} }

func (f handing) Open(int) (vfs.Handle, error) {
	h := &handed{file: f, interrupt: make(chan struct{})}
	h.answer, h.says = pipe.New(0)
	return h, nil
}

// handed is a command that was handed over, or is being so.
type handed struct {
	vfs.Stream
	file         handing
	answer, says *vfs.File // the ends of a pipe

	mu sync.Mutex
	// guarded by mu:
	request   []byte
	begun     bool
	stopped   bool
	interrupt chan struct{} // closed by stop
}

// WriteAt implements vfs.Handle.
//
// Errors: EINVAL, E2BIG.
func (h *handed) WriteAt(p []byte, _ int64) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.begun {
		h.stop()
		return len(p), nil
	}
	h.request = append(h.request, p...)
	if len(h.request) < handedHead {
		return len(p), nil
	}
	switch want := int(binary.LittleEndian.Uint32(h.request)) + handedHead; {
	case want > mostHanded:
		h.request = nil
		return 0, refusal.New(syscall.E2BIG, "a command of %d bytes, more than %d", want, mostHanded)
	case len(h.request) < want:
		return len(p), nil
	}
	words, input, err := parseHanded(h.request[4:])
	if h.request = nil; err != nil {
		return 0, err
	}
	h.begun = true
	kthread.Run(words[0], func() { h.run(words, input) })
	return len(p), nil
}

// handedHead is how long the numbers in front of a command are.
const handedHead = 8

// parseHanded returns the words and the input.
//
// Errors: EINVAL.
func parseHanded(request []byte) (words []string, input []byte, err error) {
	n := binary.LittleEndian.Uint32(request)
	input = request[4:]
	for range n {
		word, rest, ok := bytes.Cut(input, []byte{0})
		if !ok {
			break
		}
		words, input = append(words, string(word)), rest
	}
	if len(words) != int(n) || n == 0 {
		return nil, nil, refusal.New(syscall.EINVAL, "%d words were announced, %d came", n, len(words))
	}
	return words, input, nil
}

// run runs the command, and ends the answer by its status.
func (h *handed) run(words []string, input []byte) {
	defer vfs.Close(h.says)
	s := h.file.shell(part{h.says, handedOut})
	s.Err, s.interrupt = part{h.says, handedErr}, h.interrupt
	s.inline(s.newJob(strings.Join(words, " ")), func(s *Shell) {
		c := s.context(bytes.NewReader(input))
		if cmd := s.commands[words[0]]; cmd != nil {
			s.status = report(c, cmd, guard(cmd, c, words[1:]))
		} else {
			s.status = statusNotFound
			io.WriteString(c.Err, s.notFound(words[0]))
		}
	})
	part{h.says, handedEnd}.Write(binary.LittleEndian.AppendUint32(nil, uint32(s.status)))
}

// part is a writer of parts of a kind.
type part struct {
	to   *vfs.File
	kind uint32
}

func (p part) Write(b []byte) (int, error) {
	head := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, p.kind), uint32(len(b)))
	if _, err := p.to.Write(append(head, b...)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// stop interrupts the command. Context: mu held.
func (h *handed) stop() {
	if !h.stopped {
		close(h.interrupt)
		h.stopped = true
	}
}

// ReadAt implements vfs.Handle.
func (h *handed) ReadAt(p []byte, off int64) (int, error) { return h.answer.Handle().ReadAt(p, off) }

// Queue and Poll implement poll.Source.
func (h *handed) Queue() *poll.Queue { return h.answer.Handle().(poll.Source).Queue() }
func (h *handed) Poll() poll.Events  { return h.answer.Handle().(poll.Source).Poll() | poll.Out }

// Close implements vfs.Handle.
func (h *handed) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stop()
	if !h.begun {
		vfs.Close(h.says)
	}
	return vfs.Close(h.answer)
}
