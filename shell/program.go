package shell

import (
	"errors"
	"io"
	"io/fs"
	"sync"
	"syscall"

	"sonde/kernel/abi"
	"sonde/kernel/tty"
	"sonde/kernel/vfs"
)

// runProgram runs a program to its end, in the job of one of the shell's commands. ready is called
// before the program runs.
func runProgram(c *Context, path string, args []string, ready func(Program)) error {
	j := c.Shell.job
	m := j.add(args[0], c.Shell.stage)
	err := j.begin(c, m, path, args, ready)
	j.update(func() { j.begun++ })
	if err != nil {
		j.finish(m, statusError, 0)
		return err
	}
	go j.watch(m)
	<-m.done
	c.Shell.signal = m.signal
	return Status(m.status)
}

// begin starts a program as a member of the job. The caller must wait for it.
func (j *job) begin(c *Context, m *member, path string, args []string, ready func(Program)) error {
	j.start.Lock()
	defer j.start.Unlock()
	err := j.launch(c, m, path, args, ready)
	if errors.Is(err, syscall.EPERM) && j.group != 0 && !j.machine.HasGroup(j.group) {
		j.update(func() { j.group = 0 }) // all of its processes have ended
		err = j.launch(c, m, path, args, ready)
	}
	return err
}

// launch is begin with the group that the job has.
func (j *job) launch(c *Context, m *member, path string, args []string, ready func(Program)) error {
	return j.machine.Start(Start{
		Path: path, Args: args, Env: c.Shell.environ(), Dir: c.Shell.dir, Files: c.files(), Group: j.group,
		Ready: func(p Program) {
			group := p.Group()
			by := 0
			j.update(func() {
				m.program, j.group = p, group
				if by = j.quitBy; by == 0 && j.held {
					by, m.stopped, m.status, m.signal = abi.SIGSTOP, true, 128+abi.SIGTSTP, abi.SIGTSTP
				}
			})
			if by == 0 && c.Interrupted() { // what it was for has ended
				by = abi.SIGTERM
			}
			if by != 0 { // ^C or ^Z came while it was being started
				p.Send(by)
			}
			j.lendTerminal(c.Shell)
			if ready != nil {
				ready(p)
			}
		},
	})
}

// files are a program's descriptors: the terminal, if the shell has one and the line does not
// redirect them.
func (c *Context) files() []*vfs.File {
	return []*vfs.File{c.input(), c.output(c.Out), c.output(c.Err)}
}

// input is a program's standard input. A file is shared with it.
func (c *Context) input() *vfs.File {
	if f, ok := c.In.(*vfs.File); ok {
		f.Hold()
		return f
	}
	if c.Shell.Terminal != nil && c.In == c.Shell.typed {
		return openTerminal(c.Shell.Terminal)
	}
	n := vfs.NewAnonymous(fs.ModeNamedPipe | 0400)
	return vfs.NewFile(n.Name("shell"), n, &stream{r: c.In, mu: new(sync.Mutex)}, vfs.O_RDONLY)
}

// output is a program's standard output or error. A file is shared with it.
func (c *Context) output(w io.Writer) *vfs.File {
	s := c.Shell
	switch to := w.(type) {
	case *vfs.File:
		to.Hold()
		return to
	case *pieceWriter:
		to.f.Hold()
		return to.f
	}
	if s.Terminal != nil && s.onScreen(w) {
		return openTerminal(s.Terminal)
	}
	n := vfs.NewAnonymous(fs.ModeNamedPipe | 0200)
	return vfs.NewFile(n.Name("shell"), n, &stream{w: w, mu: s.outMu}, vfs.O_WRONLY)
}

func openTerminal(t *tty.TTY) *vfs.File {
	d := &tty.Device{TTY: t, Major: 5}
	h, _ := d.Open(vfs.O_RDWR) // using a terminal that has hung up reports that
	return vfs.NewFile("/dev/tty", d, h, vfs.O_RDWR)
}

// stream is a reader or writer of the shell as an open file. It implements vfs.Handle.
type stream struct {
	vfs.Stream
	mu *sync.Mutex
	r  io.Reader
	w  io.Writer
}

func (s *stream) ReadAt(p []byte, _ int64) (int, error) {
	if s.r == nil {
		return 0, syscall.EBADF
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.r.Read(p)
}

func (s *stream) WriteAt(p []byte, _ int64) (int, error) {
	if s.w == nil {
		return 0, syscall.EBADF
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.w.Write(p)
}

func (s *stream) Close() error { return nil }
