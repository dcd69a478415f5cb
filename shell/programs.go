package shell

import (
	"strings"
	"syscall"

	"sonde/kernel/refusal"
	"sonde/kernel/vfs"
)

// Programs runs programs for the shell, and knows those that run. A kernel without linux/ has none.
type Programs interface {
	// Start starts a program. Errors: those of execve and of fork.
	Start(s Start) error
	// Find returns the program with a process number. Errors: ESRCH.
	Find(pid int) (Program, error)
	// HasGroup reports whether a process group has a process that has not ended.
	HasGroup(group int) bool
	// SendGroup sends a signal to a process group. Errors: ESRCH.
	SendGroup(group, signal int) error
}

// A Program is a process that the shell has started or found.
type Program interface {
	PID() int
	Group() int
	// Send sends a signal; 0 only checks. Errors: ESRCH; EPERM for process 1.
	Send(signal int) error
	// Wait waits until the program ends, stops or continues. Only who has started it may wait for it.
	Wait() (Change, error)
	// Done returns a channel that is closed when the program has ended.
	Done() <-chan struct{}
}

// A Start is what is needed to start a program.
type Start struct {
	Path  string
	Args  []string
	Env   []string      // NAME=VALUE
	Dir   string        // where it begins
	Files []*vfs.File   // descriptors 0 and up; the program takes over their holds
	Group int           // its process group; 0: a new one
	Ready func(Program) // called before it runs
}

// A Change is what has become of a program.
type Change struct {
	State  ProgramState
	Signal int // that has stopped or ended it; 0: none
	Status int // of its exit
}

// ProgramState is the state of a program after a change.
type ProgramState int

// The states.
const (
	ProgramRuns ProgramState = iota
	ProgramStopped
	ProgramEnded
)

// errNoPrograms is the error of what needs programs where Machine.Programs is nil.
var errNoPrograms = refusal.New(syscall.ENOSYS, "no programs can run here")

// programPath is the path on which programs are searched for.
const programPath = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"

// environment is the environment of a new shell, which programs get.
var environment = []string{"PATH=" + programPath, "HOME=/", "TERM=vt100", "PWD=/", "SHELL=/bin/sh", "USER=root"}

// findProgram searches for a program's file.
//
// Errors: ENOENT; EACCES and EISDIR for a path to a file that cannot be executed.
func (s *Shell) findProgram(name string) (path string, err error) {
	if strings.Contains(name, "/") {
		path := s.path(name)
		return path, executable(path)
	}
	for dir := range strings.SplitSeq(s.vars["PATH"].String(), ":") {
		if path := s.path(dir + "/" + name); name != "" && executable(path) == nil {
			return path, nil
		}
	}
	return "", syscall.ENOENT
}

// path is a path as seen from the shell's directory.
func (s *Shell) path(name string) string {
	if s.dir == "/" || strings.HasPrefix(name, "/") || name == "" {
		return name
	}
	return s.dir + "/" + name
}

func executable(path string) error {
	i, err := vfs.Root.StatAt(vfs.Root.RootPlace(), path, true)
	switch {
	case err != nil:
		return err
	case i.Mode.IsDir():
		return syscall.EISDIR
	case !i.Mode.IsRegular() || i.Mode&0111 == 0:
		return syscall.EACCES
	}
	return nil
}

// isProgram reports whether a word that is not a command of the shell means a program: a path does,
// even if no file is there.
func (s *Shell) isProgram(word string) bool {
	if s.builtin(word) != nil || s.Machine.Programs == nil {
		return false
	}
	_, err := s.findProgram(word)
	return err == nil || strings.Contains(word, "/")
}

// programOf returns the program with that process number.
//
// Errors: ENOSYS; ESRCH; EPERM for process 1.
func (c *Context) programOf(pid int) (Program, error) {
	if c.Machine.Programs == nil {
		return nil, errNoPrograms
	}
	p, err := c.Machine.Programs.Find(pid)
	switch {
	case err != nil:
		return nil, refusal.New(syscall.ESRCH, "there is no process %d", pid)
	case pid == 1:
		return nil, refusal.New(syscall.EPERM, "process 1 is the kernel's and runs no program")
	}
	return p, nil
}
