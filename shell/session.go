package shell

import (
	"io"
	"sync"

	"sonde/kernel/tty"
	"sonde/shell/line"
)

// prompt is shown before each line.
const prompt = "sonde# "

// typeAhead is how many bytes may be typed before a command reads them; further ones are lost, as
// on any terminal.
const typeAhead = 4096

// ctrlC is the byte that the terminal sends for ^C.
const ctrlC = 3

// Session is a shell on a terminal. One goroutine reads the terminal all the time, so that ^C works
// while a command runs.
type Session struct {
	shell  *Shell
	editor *line.Editor

	mu    sync.Mutex
	typed sync.Cond // queue or err changed
	// guarded by mu:
	queue     []byte        // typed and not read yet
	err       error         // why the terminal ended
	interrupt chan struct{} // of the running command; nil between commands
	stopped   bool          // interrupt is closed
}

// NewSession returns a session of s on a terminal, to which commands write, too.
func NewSession(s *Shell, in io.Reader, out io.Writer) *Session {
	t := &Session{shell: s}
	t.typed.L = &t.mu
	t.editor = line.New(t, out)
	t.editor.History = s.History
	t.editor.Complete = s.complete
	if s.Terminal != nil {
		t.editor.Resized = func(rows, columns int) {
			s.Terminal.SetWinsize(tty.Winsize{Rows: uint16(rows), Cols: uint16(columns)})
		}
	}
	s.Out, s.Err = out, out
	s.typeAhead, s.typedBack, s.interactive = t.take, t.putBack, true
	go t.pump(in)
	return t
}

// Editor returns the line editor, to set the width of the terminal.
func (t *Session) Editor() *line.Editor { return t.editor }

// Run reads and runs lines until ^D is typed on an empty one. It may be called again afterwards.
//
// Errors: those of reading the terminal, except io.EOF.
func (t *Session) Run() error {
	for {
		t.shell.tell()
		_, t.editor.Columns = t.shell.screen()
		text, err := t.editor.ReadLine(prompt)
		switch err {
		case nil:
			t.shell.History.Add(text)
			t.execute(text)
			if t.shell.exiting {
				t.shell.exiting = false
				return nil
			}
		case line.ErrInterrupted:
			t.shell.status = statusInterrupted
		case io.EOF:
			return nil
		default:
			return err
		}
	}
}

// Interact runs a session on a terminal until ^D.
//
// Errors: as Run.
func (s *Shell) Interact(in io.Reader, out io.Writer) error {
	return NewSession(s, in, out).Run()
}

// execute runs a line; meanwhile ^C closes the interrupt channel.
func (t *Session) execute(text string) {
	t.begin()
	t.shell.Run(text)
	if t.end() {
		io.WriteString(t.shell.Out, "^C\n")
	}
}

// begin makes ^C interrupt the command that starts now, also a ^C that was typed right after the
// line.
func (t *Session) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.interrupt, t.stopped = make(chan struct{}), false
	t.shell.interrupt = t.interrupt
	if len(t.queue) > 0 && t.queue[0] == ctrlC {
		t.queue = t.queue[1:]
		t.stop()
	}
}

// end reports whether the ending command was interrupted.
func (t *Session) end() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.interrupt, t.shell.interrupt = nil, nil
	return t.stopped
}

// stop interrupts the running command. Context: mu held.
func (t *Session) stop() {
	if !t.stopped {
		close(t.interrupt)
		t.stopped = true
	}
}

// take returns the typed and unread bytes, for a program that gets the terminal.
func (t *Session) take() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	typed := t.queue
	t.queue = nil
	return typed
}

// putBack puts the bytes typed while a program had the terminal in front of the queue.
func (t *Session) putBack(typed []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.queue = append(typed, t.queue...)
}

// pump reads the terminal.
func (t *Session) pump(in io.Reader) {
	buf := make([]byte, 256)
	for {
		n, err := in.Read(buf)
		t.arrived(buf[:n], err)
		if err != nil {
			return
		}
	}
}

// arrived queues typed bytes, except a ^C for a command. A program in the foreground gets all of
// them.
func (t *Session) arrived(typed []byte, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if tty := t.shell.Terminal; tty != nil && tty.Offer(typed) {
		typed = nil
	}
	for _, c := range typed {
		switch {
		case c == ctrlC && t.interrupt != nil:
			t.stop()
		case len(t.queue) < typeAhead:
			t.queue = append(t.queue, c)
		}
	}
	t.err = err
	t.typed.Signal()
}

// ReadByte implements io.ByteReader for the editor.
func (t *Session) ReadByte() (byte, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.queue) == 0 {
		if t.err != nil {
			return 0, t.err
		}
		t.typed.Wait()
	}
	c := t.queue[0]
	t.queue = t.queue[1:]
	return c, nil
}
