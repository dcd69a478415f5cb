package shell

import (
	"io"
	"strings"
	"sync"

	"sonde/kernel/tty"
	"sonde/shell/line"
)

// Shell runs scripts. It is used by one goroutine at a time.
//
// The language is that of POSIX shells, with much of bash's: mvdan.cc/sh parses it and expands words;
// this package walks the trees, because it is what has jobs, files and programs of this kernel, and
// because it must bound what a script takes of the kernel's memory.
type Shell struct {
	Machine  *Machine
	In       io.Reader
	Out, Err io.Writer
	History  *line.History

	// Terminal is the terminal of the shell; nil for a script. Programs get it.
	Terminal *tty.TTY
	// Controlling is the terminal that controls the programs of a script, whose group has its foreground while the
	// script waits for them: else those that want it would stop for ever. nil for a shell at a terminal.
	Controlling *tty.TTY

	// Symbols lists the symbols that begin with a prefix, for completion; it may be nil.
	Symbols func(prefix string) []string

	*state

	name      string // $0
	commands  map[string]*Command
	interrupt <-chan struct{}
	suspend   <-chan struct{} // receives when ^Z is typed
	jobs      *jobTable
	outMu     *sync.Mutex   // held while Out or Err is written for a program
	job       *job          // the statement that runs; nil between statements
	within    *job          // the job in the background that this shell runs; nil: the user's shell
	stage     int           // of the pipeline
	typed     io.Reader     // what is typed, in lines; nil without a terminal
	raw       io.Writer     // the terminal; nil without one
	typeAhead func() []byte // takes the typed and unread bytes; nil: there is no input
	typedBack func([]byte)  // puts back the bytes that no program has read

	// interactive says that a person uses it: jobs are announced.
	interactive bool
}

// New returns a shell with the built-in commands, which writes output and
// errors to out.
func New(m *Machine, out io.Writer) *Shell {
	s := &Shell{
		Machine: m, In: strings.NewReader(""), Out: out, Err: out,
		History: new(line.History), commands: make(map[string]*Command),
		jobs: new(jobTable), outMu: new(sync.Mutex), name: "sh", state: newState(),
	}
	s.Register(builtins...)
	s.Register(shared()...)
	s.Register(language...)
	// Those that read the table, or run scripts, cannot be in it.
	s.Register(helpCommand, repeatCommand, timeCommand, watchCommand, shCommand, evalCommand, dotCommand, sourceCommand, commandCommand, typeCommand, execCommand)
	return s
}

// Register adds commands; one of the same name is replaced.
func (s *Shell) Register(commands ...*Command) {
	for _, c := range commands {
		s.commands[c.Name] = c
	}
}

// Status returns $?.
func (s *Shell) Status() int { return s.status }
