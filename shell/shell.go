package shell

import (
	"bytes"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"

	"sonde/kernel/tty"
	"sonde/shell/line"
)

// Shell runs scripts. It is used by one goroutine at a time.
type Shell struct {
	Machine  *Machine
	In       io.Reader
	Out, Err io.Writer
	History  *line.History

	// Terminal is the terminal of the shell; nil for a script. Programs get it.
	Terminal *tty.TTY

	// Symbols lists the symbols that begin with a prefix, for completion; it may be nil.
	Symbols func(prefix string) []string

	commands  map[string]*Command
	status    int
	interrupt <-chan struct{}
	jobs      *jobTable
	outMu     *sync.Mutex   // held while Out or Err is written for a program
	job       *job          // the job to which this shell belongs; nil for the user's own
	typeAhead func() []byte // takes the typed and unread bytes; nil: there is no input
	typedBack func([]byte)  // puts back the bytes that no program has read

	// exiting says that exit was called: the rest of the script does not run.
	exiting bool

	// interactive says that a person uses it: jobs are announced.
	interactive bool
}

// New returns a shell with the built-in commands, which writes output and
// errors to out.
func New(m *Machine, out io.Writer) *Shell {
	s := &Shell{
		Machine: m, In: strings.NewReader(""), Out: out, Err: out,
		History: new(line.History), commands: make(map[string]*Command),
		jobs: new(jobTable), outMu: new(sync.Mutex),
	}
	s.Register(builtins...)
	s.Register(helpCommand, repeatCommand, timeCommand, watchCommand) // not in the table, as they read the table
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

// Run runs a script and returns the status of its last command. A script with
// a mistake in its syntax is not run at all; its status is 2.
func (s *Shell) Run(script string) (status int) {
	list, err := parse(script)
	if err != nil {
		io.WriteString(s.Err, "sh: "+err.Error()+"\n")
		s.status = statusUsage
		return s.status
	}
	for _, l := range list {
		switch {
		case s.exiting:
			return s.status
		case s.interrupted():
			s.status = statusInterrupted
			return s.status
		case l.background:
			s.status = s.launch(l)
		default:
			s.runChain(l)
		}
	}
	return s.status
}

// runChain runs pipelines as far as the operators between them want it.
func (s *Shell) runChain(l chain) {
	for _, p := range l.pipelines {
		if s.exiting {
			return
		}
		if s.interrupted() {
			s.status = statusInterrupted
			return
		}
		if p.after == "&&" && s.status != statusOK || p.after == "||" && s.status == statusOK {
			continue
		}
		s.status = s.runPipeline(p)
	}
}

func (s *Shell) interrupted() bool {
	return (&Context{Interrupt: s.interrupt}).Interrupted()
}

// runPipeline runs a pipeline to its end; its status is that of the last command. What
// consists of our own commands is run one after the other, by the shell itself.
func (s *Shell) runPipeline(p pipeline) (status int) {
	if s.parallel(p) {
		return s.runJob(p)
	}
	in := s.In
	for i, inv := range p.commands {
		c := s.context(in)
		c.Interrupt = s.interrupt
		var kept bytes.Buffer
		if i < len(p.commands)-1 {
			c.Out = &kept
		}
		status = s.runCommand(c, inv)
		in = &kept
	}
	return status
}

// context is what a command of this shell runs in.
func (s *Shell) context(in io.Reader) *Context {
	return &Context{In: in, Out: s.Out, Err: s.Err, Shell: s, Machine: s.Machine}
}

// runCommand runs one of our own commands with its redirections.
func (s *Shell) runCommand(c *Context, inv invocation) int {
	words := s.words(inv)
	cmd := s.commands[words[0]]
	if cmd == nil {
		io.WriteString(c.Err, s.notFound(words[0]))
		return statusNotFound
	}
	var r redirection
	err := r.open(c, inv.redirects, s.expand)
	return s.finishCommand(c, cmd, words, &r, err)
}

// finishCommand runs a command whose files are open, unless there was an error. What
// its files say is told to the shell's own Err.
func (s *Shell) finishCommand(c *Context, cmd *Command, words []string, r *redirection, err error) int {
	outer := s.context(nil)
	if err != nil {
		r.close()
		return report(outer, cmd, err)
	}
	status := report(c, cmd, guard(cmd, c, words[1:]))
	if err := r.close(); err != nil && status == statusOK {
		return report(outer, cmd, err)
	}
	return status
}

// words are those of a command as they are used.
func (s *Shell) words(inv invocation) []string {
	words := make([]string, len(inv.words))
	for i, w := range inv.words {
		words[i] = s.expand(w)
	}
	return words
}

// expand puts the status where a word has $?, and the last job's process where it has $!.
func (s *Shell) expand(word string) string {
	word = strings.ReplaceAll(word, string(statusMark), strconv.Itoa(s.status))
	if strings.IndexByte(word, lastMark) >= 0 {
		word = strings.ReplaceAll(word, string(lastMark), s.jobs.last())
	}
	return word
}

// open flags of the redirections.
var redirectFlags = map[string]int{
	"<":   os.O_RDONLY,
	">":   os.O_WRONLY | os.O_CREATE | os.O_TRUNC,
	">>":  os.O_WRONLY | os.O_CREATE | os.O_APPEND,
	"2>":  os.O_WRONLY | os.O_CREATE | os.O_TRUNC,
	"2>>": os.O_WRONLY | os.O_CREATE | os.O_APPEND,
}
