package shell

import (
	"io"
	"sync"

	"sonde/kernel/tty"
	"sonde/shell/line"
)

// What is shown before a line, and before a further line of the same command.
const (
	prompt     = "sonde# "
	morePrompt = "> "
)

// typeAhead is how many bytes may be typed before a command reads them; further ones are lost, as
// on any terminal.
const typeAhead = 4096

// The bytes that the terminal sends for ^C and ^Z.
const (
	ctrlC = 3
	ctrlZ = 26
)

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
	reads     bool          // the running command reads what is typed

	suspend chan struct{} // receives when ^Z is typed, while a command runs
	warned  bool          // exit has told that there are stopped jobs
	rest    []byte        // of the line that the running command reads
}

// NewSession returns a session of s on a terminal, to which commands write, too.
func NewSession(s *Shell, in io.Reader, out io.Writer) *Session {
	t := &Session{shell: s, suspend: make(chan struct{}, 1)}
	t.typed.L = &t.mu
	t.editor = line.New(t, out)
	t.editor.History = s.History
	t.editor.Complete = s.complete
	if s.Terminal != nil {
		t.editor.Resized = func(rows, columns int) {
			s.Terminal.SetWinsize(tty.Winsize{Rows: uint16(rows), Cols: uint16(columns)})
		}
	}
	s.In, s.Out, s.Err = (*typed)(t), out, out
	s.typed, s.raw, s.suspend = s.In, out, t.suspend
	s.typeAhead, s.typedBack, s.interactive = t.take, t.putBack, true
	go t.pump(in)
	return t
}

// Run reads and runs lines until exit, or until ^D is typed on an empty one. It may be called again
// afterwards.
//
// Errors: those of reading the terminal, except io.EOF.
func (t *Session) Run() error {
	for {
		t.shell.tell()
		text, err := t.command()
		switch err {
		case nil:
			t.execute(text)
			if t.shell.flow == leaving && t.leaves() {
				return nil
			}
		case line.ErrInterrupted:
			t.shell.status = statusInterrupted
		case io.EOF:
			if t.leaves() {
				return nil
			}
		default:
			return err
		}
	}
}

// command reads a line, and further ones while the command is not complete.
func (t *Session) command() (text string, err error) {
	for show := prompt; ; show = morePrompt {
		_, t.editor.Columns = t.shell.screen()
		more, err := t.editor.ReadLine(show)
		if err == io.EOF && text != "" {
			return text, nil // with its mistake
		}
		if err != nil {
			return "", err
		}
		t.shell.History.Add(more)
		text += more
		if !incomplete(text) {
			return text, nil
		}
		text += "\n"
	}
}

// leaves reports whether the session ends: the first time, stopped jobs keep it.
func (t *Session) leaves() bool {
	t.shell.flow = onward
	for _, j := range t.shell.jobs.all(nil) {
		if now, _ := j.look(); now == stopped && !t.warned {
			t.warned = true
			io.WriteString(t.shell.Out, "There are stopped jobs.\n")
			return false
		}
	}
	t.warned = false
	return true
}

// Interact runs a session on a terminal until ^D.
//
// Errors: as Run.
func (s *Shell) Interact(in io.Reader, out io.Writer) error { return NewSession(s, in, out).Run() }

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
	t.interrupt, t.stopped, t.rest = make(chan struct{}), false, nil
	t.shell.interrupt = t.interrupt
	select {
	case <-t.suspend: // meant the command before
	default:
	}
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
		t.typed.Broadcast()
	}
}

// pause stops the running command, unless it waits for what is typed. Context: mu held.
func (t *Session) pause() {
	if t.reads {
		return
	}
	select {
	case t.suspend <- struct{}{}:
	default:
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
		case c == ctrlZ && t.interrupt != nil:
			t.pause()
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
		switch {
		case t.err != nil:
			return 0, t.err
		case t.reads && t.stopped:
			return 0, line.ErrInterrupted
		}
		t.typed.Wait()
	}
	c := t.queue[0]
	t.queue = t.queue[1:]
	return c, nil
}

// typed is the terminal as the input of the shell's own commands: lines that are edited, up to ^D.
// It implements io.Reader.
type typed Session

func (r *typed) Read(p []byte) (int, error) {
	t := (*Session)(r)
	if len(t.rest) == 0 {
		text, err := t.readFor()
		if err != nil {
			return 0, err
		}
		t.rest = []byte(text + "\n")
	}
	n := copy(p, t.rest)
	t.rest = t.rest[n:]
	return n, nil
}

// readFor reads a line for the running command.
func (t *Session) readFor() (string, error) {
	t.setReads(true)
	complete := t.editor.Complete
	t.editor.Complete = nil
	text, err := t.editor.ReadLine("")
	t.editor.Complete = complete
	t.setReads(false)
	if err == line.ErrInterrupted {
		err = Status(statusInterrupted)
	}
	return text, err
}

func (t *Session) setReads(on bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reads = on
}
