package shell

import (
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
	"sonde/shell/coreutils"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// MountCommand makes the file by which a program hands a command over to the kernel's shell. What is
// written and what is read are parts: a kind and how long it is, 4 bytes each, little-endian, and then
// the part itself.
//
//	write   1 the command: the folder where it runs, variables as NAME=VALUE, its name and its arguments,
//	        a zero after each; then 2 what it reads, nothing at the end, each time that it asks; 3 ^C
//	read    1 output, 2 errors, 3 the exit status (4 bytes), which is the end; 4 the command asks for
//	        input, for so many bytes at most (4 bytes)
//
// When the file is closed, the command is interrupted.
func MountCommand(tree *vfs.FS, path string, shell func(out io.Writer) *Shell) error {
	return tree.Bind(path, handing{shell})
}

// handing is the file.
type handing struct{ shell func(io.Writer) *Shell }

const (
	partHead   = 8       // bytes in front of a part
	mostHanded = 1 << 20 // bytes in one
)

func (handing) Stat() vfs.Info { return vfs.Info{Mode: 0o600} }

func (f handing) Open(int) (vfs.Handle, error) {
	h := &handed{file: f, input: make(chan []byte, 1), interrupt: make(chan struct{})}
	h.answer, h.says = pipe.New(0)
	return h, nil
}

// handed is a command that was handed over, or is being so. It implements poll.Source and vfs.Handle.
type handed struct {
	vfs.Stream
	file         handing
	answer, says *vfs.File // the ends of a pipe
	saying       sync.Mutex
	input        chan []byte // what the command has asked for; nothing: there is no more

	mu sync.Mutex
	// guarded by mu:
	written   []byte // and not taken yet
	begun     bool
	stopped   bool
	interrupt chan struct{} // closed by stop
}

// WriteAt implements vfs.Handle.
//
// Errors: EINVAL, E2BIG, ENOENT.
func (h *handed) WriteAt(p []byte, _ int64) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.written = append(h.written, p...)
	for len(h.written) >= partHead {
		kind, n := binary.LittleEndian.Uint32(h.written), int(binary.LittleEndian.Uint32(h.written[4:]))
		if n > mostHanded {
			h.written = nil
			return 0, refusal.New(syscall.E2BIG, "a part of %d bytes, more than %d", n, mostHanded)
		}
		if len(h.written) < partHead+n {
			break
		}
		data := h.written[partHead : partHead+n]
		h.written = h.written[partHead+n:]
		if err := h.take(kind, data); err != nil {
			h.written = nil
			return 0, err
		}
	}
	return len(p), nil
}

// take takes a part. Context: mu held.
//
// Errors: EINVAL; those of begin.
func (h *handed) take(kind uint32, data []byte) error {
	switch {
	case kind == coreutils.HandsCommand && !h.begun:
		return h.begin(data)
	case kind == coreutils.HandsInput && h.begun:
		select {
		case h.input <- data:
			return nil
		default:
			return refusal.New(syscall.EINVAL, "the command has not asked for input")
		}
	case kind == coreutils.HandsInterrupt && h.begun:
		h.stop()
		return nil
	}
	return refusal.New(syscall.EINVAL, "a part of kind %d cannot come here", kind)
}

// begin begins the command. Context: mu held.
//
// Errors: EINVAL; ENOENT and ENOTDIR of the folder; those of Shell.begin.
func (h *handed) begin(data []byte) error {
	words := strings.Split(string(data), "\x00")
	if n := len(words); n < 3 || words[n-1] != "" {
		return refusal.New(syscall.EINVAL, "a command is a folder, a name and arguments, with a zero after each")
	}
	s := h.file.shell(writerFunc(func(p []byte) error { return h.say(coreutils.GetsOutput, p) }))
	s.Err, s.interrupt = writerFunc(func(p []byte) error { return h.say(coreutils.GetsErrors, p) }), h.interrupt
	s.In = &asking{handed: h}
	if err := s.enter(words[0]); err != nil {
		return err
	}
	words, err := s.begin(words[1 : len(words)-1])
	if err != nil {
		return err
	}
	h.begun = true
	kthread.Run(words[0], func() { h.run(s, words) })
	return nil
}

// begin sets the variables in front of a command, for the programs that it starts, and returns its words.
//
// Errors: EINVAL there is no command; E2BIG they are more than a shell may have.
func (s *Shell) begin(words []string) ([]string, error) {
	for i, word := range words {
		name, value, ok := strings.Cut(word, "=")
		if !ok {
			return words[i:], nil
		}
		if !syntax.ValidName(name) { // programs can have others
			continue
		}
		if err := s.Set(name, expand.Variable{Set: true, Exported: true, Kind: expand.String, Str: value}); err != nil {
			return nil, refusal.New(syscall.E2BIG, "%v", err)
		}
	}
	return nil, refusal.New(syscall.EINVAL, "there are variables, and no command")
}

// run runs the command, and ends the answer by its status.
func (h *handed) run(s *Shell, words []string) {
	defer vfs.Close(h.says)
	s.inline(s.newJob(strings.Join(words, " ")), func(s *Shell) {
		if cmd := s.commands[words[0]]; cmd != nil {
			s.status = s.runCommand(cmd, words[1:])
		} else {
			s.status = statusNotFound
			s.complain(words[0], s.notFound(words[0]))
		}
	})
	h.say(coreutils.GetsEnd, binary.LittleEndian.AppendUint32(nil, uint32(s.status)))
}

// say writes a part of the answer.
func (h *handed) say(kind uint32, b []byte) error {
	h.saying.Lock()
	defer h.saying.Unlock()
	_, err := h.says.Write(coreutils.Part(kind, b))
	return err
}

// writerFunc is a writer of everything at once.
type writerFunc func([]byte) error

func (f writerFunc) Write(p []byte) (int, error) {
	if err := f(p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// asking is the command's input. It asks for no more than the command reads, since what is left is the
// next one's.
type asking struct {
	*handed
	left  []byte
	ended bool
}

func (a *asking) Read(p []byte) (int, error) {
	if len(a.left) == 0 && !a.ended && len(p) > 0 {
		if err := a.say(coreutils.GetsAsked, binary.LittleEndian.AppendUint32(nil, uint32(min(len(p), mostHanded)))); err != nil {
			return 0, err
		}
		select {
		case data := <-a.input:
			a.left, a.ended = data, len(data) == 0
		case <-a.interrupt:
			return 0, Status(statusInterrupted)
		}
	}
	if a.ended {
		return 0, io.EOF
	}
	n := copy(p, a.left)
	a.left = a.left[n:]
	return n, nil
}

// stop interrupts the command. Context: mu held.
func (h *handed) stop() {
	if !h.stopped {
		close(h.interrupt)
		h.stopped = true
	}
}

// ReadAt implements vfs.Handle. Before a command has been handed over there is nothing to read: who reads
// all files does not wait.
func (h *handed) ReadAt(p []byte, off int64) (int, error) {
	h.mu.Lock()
	begun := h.begun
	h.mu.Unlock()
	if !begun {
		return 0, io.EOF
	}
	return h.answer.Handle().ReadAt(p, off)
}

func (h *handed) Queue() *poll.Queue { return h.answer.Handle().(poll.Source).Queue() }
func (h *handed) Poll() poll.Events  { return h.answer.Handle().(poll.Source).Poll() | poll.Out }

func (h *handed) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stop()
	if !h.begun {
		vfs.Close(h.says)
	}
	return vfs.Close(h.answer)
}
