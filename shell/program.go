package shell

import (
	"io"
	"io/fs"
	"strings"
	"sync"
	"syscall"

	"sonde/kernel/proc"
	calls "sonde/kernel/syscall"
	"sonde/kernel/vfs"
)

// programPath is where programs are looked for that are named without a slash.
const programPath = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"

// environment is what programs find.
var environment = []string{"PATH=" + programPath, "HOME=/", "TERM=vt100", "PWD=/", "SHELL=/bin/sh", "USER=root"}

// program makes a command of a program; nil if there is none of that name.
func (s *Shell) program(name string) *Command {
	if s.Machine.Programs == nil {
		return nil
	}
	path, ok := findProgram(name)
	if !ok {
		return nil
	}
	return &Command{Name: name, Run: func(c *Context, args []string) error {
		return runProgram(c, path, append([]string{name}, args...))
	}}
}

// findProgram looks for a file that may be executed.
func findProgram(name string) (path string, ok bool) {
	if strings.Contains(name, "/") {
		return name, executable(name)
	}
	for dir := range strings.SplitSeq(programPath, ":") {
		if path := dir + "/" + name; executable(path) {
			return path, true
		}
	}
	return "", false
}

func executable(path string) bool {
	i, err := vfs.Root.StatAt(vfs.Root.RootPlace(), path, true)
	return err == nil && i.Mode.IsRegular() && i.Mode&0111 != 0
}

// runProgram runs a program to its end, or until it stops.
func runProgram(c *Context, path string, args []string) error {
	return runProgramWith(c, path, args, func(*proc.Process) {})
}

// runProgramWith is runProgram with something that is done before it runs.
func runProgramWith(c *Context, path string, args []string, ready func(*proc.Process)) error {
	j := &job{c: c, name: strings.Join(args, " ")}
	p, err := calls.Start(c.Machine.Programs, calls.Spec{
		Path: path, Args: args, Env: environment, Dir: "/", Files: j.files(),
		Ready: func(p *proc.Process) { j.process = p; j.foreground(); ready(p) },
	})
	if err != nil {
		return err
	}
	j.process = p
	return j.wait()
}

// inputFile is what a program reads as its input. A file is shared with it.
func inputFile(r io.Reader) *vfs.File {
	if f, ok := r.(*vfs.File); ok {
		f.Hold()
		return f
	}
	n := vfs.NewAnonymous(fs.ModeNamedPipe | 0400)
	return vfs.NewFile(n.Name("shell"), n, &stream{r: r, mu: new(sync.Mutex)}, vfs.O_RDONLY)
}

// outputFile is what a program writes to. Those of one program may share a writer,
// so they share a lock.
func outputFile(w io.Writer, mu *sync.Mutex) *vfs.File {
	n := vfs.NewAnonymous(fs.ModeNamedPipe | 0200)
	return vfs.NewFile(n.Name("shell"), n, &stream{w: w, mu: mu}, vfs.O_WRONLY)
}

// stream is a reader or writer of the shell's as an open file.
type stream struct {
	vfs.Stream
	mu *sync.Mutex
	r  io.Reader
	w  io.Writer
}

// ReadAt implements vfs.Handle.
func (s *stream) ReadAt(p []byte, _ int64) (int, error) {
	if s.r == nil {
		return 0, syscall.EBADF
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.r.Read(p)
}

// WriteAt implements vfs.Handle.
func (s *stream) WriteAt(p []byte, _ int64) (int, error) {
	if s.w == nil {
		return 0, syscall.EBADF
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.w.Write(p)
}

// Close implements vfs.Handle.
func (s *stream) Close() error { return nil }
