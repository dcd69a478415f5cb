package shell

import (
	"bytes"
	"io"
	"os"
	"strconv"
	"strings"

	"sonde/kernel/tty"
	"sonde/shell/line"
)

// Shell runs scripts. It is used by one goroutine at a time.
type Shell struct {
	Machine  *Machine
	In       io.Reader
	Out, Err io.Writer
	History  *line.History

	// Terminal is where the shell is used; nil for a script. Programs get it.
	Terminal *tty.TTY

	// Symbols lists the symbols that begin with a prefix, for completion; it
	// may be nil.
	Symbols func(prefix string) []string

	commands  map[string]*Command
	status    int
	interrupt <-chan struct{}
	jobs      []*job        // programs that have stopped
	typeAhead func() []byte // takes what was typed and not read yet; nil: nothing is typed
}

// New returns a shell with the built-in commands, which writes output and
// errors to out.
func New(m *Machine, out io.Writer) *Shell {
	s := &Shell{
		Machine: m, In: strings.NewReader(""), Out: out, Err: out,
		History: new(line.History), commands: make(map[string]*Command),
	}
	s.Register(builtins...)
	s.Register(helpCommand) // not in the table, as it reads the table
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
	for _, p := range list {
		if s.interrupted() {
			s.status = statusInterrupted
			break
		}
		if p.after == "&&" && s.status != statusOK || p.after == "||" && s.status == statusOK {
			continue
		}
		s.status = s.runPipeline(p)
	}
	return s.status
}

func (s *Shell) interrupted() bool {
	return (&Context{Interrupt: s.interrupt}).Interrupted()
}

// runPipeline runs the commands one after the other; its status is that of
// the last.
func (s *Shell) runPipeline(p pipeline) (status int) {
	in := s.In
	for i, inv := range p.commands {
		c := &Context{In: in, Out: s.Out, Err: s.Err, Shell: s, Machine: s.Machine, Interrupt: s.interrupt}
		var kept bytes.Buffer
		if i < len(p.commands)-1 {
			c.Out = &kept
		}
		status = s.runCommand(c, inv)
		in = &kept
	}
	return status
}

// runCommand runs one command with its redirections.
func (s *Shell) runCommand(c *Context, inv invocation) int {
	words := make([]string, len(inv.words))
	for i, w := range inv.words {
		words[i] = s.expand(w)
	}
	cmd := s.command(words[0])
	if cmd == nil {
		io.WriteString(c.Err, words[0]+": command not found\n")
		return statusNotFound
	}
	r := redirection{name: cmd.Name}
	err := r.open(c, inv.redirects, s.expand)
	if err == nil {
		err = guard(cmd, c, words[1:])
	}
	if rerr := r.close(); err == nil {
		err = rerr
	}
	return report(c, cmd, err)
}

// command finds what a word names: a built-in command, or a program. nil: neither.
func (s *Shell) command(word string) *Command {
	if c := s.commands[word]; c != nil {
		return c
	}
	return s.program(word)
}

// expand puts the status where a word has $?.
func (s *Shell) expand(word string) string {
	return strings.ReplaceAll(word, string(statusMark), strconv.Itoa(s.status))
}

// open flags of the redirections.
var redirectFlags = map[string]int{
	"<":  os.O_RDONLY,
	">":  os.O_WRONLY | os.O_CREATE | os.O_TRUNC,
	">>": os.O_WRONLY | os.O_CREATE | os.O_APPEND,
}
