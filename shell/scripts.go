package shell

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"mvdan.cc/sh/v3/syntax"

	"sonde/kernel/vfs"
	"sonde/shell/coreutils"
)

// The commands that run text, files, or other commands. They are not in a table that the compiler
// initializes: they read it.
var (
	shCommand      = &Command{Name: "sh", Usage: "[-efux] -c script [name [parameter...]] | [file [parameter...]]", Help: "run a script, a file, or the input in a shell of its own", Verbatim: true}
	evalCommand    = &Command{Name: "eval", Usage: "word...", Help: "run words as a script", Verbatim: true}
	dotCommand     = &Command{Name: ".", Usage: "file [parameter...]", Help: "run a file in this shell"}
	sourceCommand  = &Command{Name: "source", Usage: "file [parameter...]", Help: "run a file in this shell"}
	commandCommand = &Command{Name: "command", Usage: "[-v] command...", Options: "+v", Help: "run a command, even if a function has its name (-v: print what it is)"}
	typeCommand    = &Command{Name: "type", Usage: "name...", Help: "tell what a name is: function, command, or program"}
	execCommand    = &Command{Name: "exec", Usage: "command...", Help: "run a command, and end the shell with its status"}
)

func init() {
	shCommand.Run = runSh
	evalCommand.Run = func(c *Context, args []string) error { return c.Shell.include(strings.Join(args, " ")) }
	dotCommand.Run, sourceCommand.Run = dot, dot
	commandCommand.Run, typeCommand.Run = plainCommand, tellTypes
	execCommand.Run = func(c *Context, args []string) error {
		if len(args) == 0 {
			return Usagef("give a command: files of the shell itself cannot be redirected")
		}
		c.Shell.invokeCommand(args)
		c.Shell.flow = leaving
		return Status(c.Shell.status)
	}
}

// include runs text in this shell, as part of what runs.
func (s *Shell) include(text string) error {
	script, _, err := parse(text)
	if err != nil {
		return err
	}
	defer script.forget()
	source := s.source
	s.source, s.status = script.text, statusOK
	s.stmts(script.list)
	s.source = source
	return Status(s.status)
}

func dot(c *Context, args []string) error {
	if len(args) == 0 {
		return Usagef("give a file")
	}
	text, err := readScript(c.path(args[0]))
	if err != nil {
		return err
	}
	s := c.Shell
	params := s.params
	if len(args) > 1 {
		s.params = args[1:]
	}
	err = s.include(text)
	if s.flow == returning {
		s.flow = onward
	}
	s.params = params
	return err
}

// readScript reads a file that is a script.
//
// Errors: those of vfs; ENOEXEC for what is no text; for what is too long.
func readScript(path string) (string, error) {
	f, err := vfs.Open(path, os.O_RDONLY)
	if err != nil {
		return "", err
	}
	defer vfs.Close(f)
	b, err := io.ReadAll(io.LimitReader(f, maxScript+1))
	if err == nil && strings.IndexByte(string(b[:min(len(b), 512)]), 0) >= 0 {
		err = fmt.Errorf("%s: %w", path, syscall.ENOEXEC)
	}
	return string(b), err
}

func runSh(c *Context, args []string) error {
	s := c.again()
	s.state = exported(s.state)
	text, named := "", false
	for len(args) > 0 && len(args[0]) > 1 && (args[0][0] == '-' || args[0][0] == '+') && !named {
		word := args[0]
		args = args[1:]
		if word == "--" {
			break
		}
		letters := strings.NewReplacer("c", "", "i", "", "l", "", "s", "").Replace(word[1:])
		named = strings.Contains(word[1:], "c")
		if err := s.option(letters, word[0] == '-'); err != nil {
			return err
		}
	}
	switch {
	case named && len(args) == 0:
		return Usagef("-c: give a script")
	case named:
		text, args = args[0], args[1:]
		if len(args) > 0 {
			s.name = args[0]
		}
	case len(args) > 0:
		return runFile(c, c.path(args[0]), args)
	default:
		b, err := io.ReadAll(io.LimitReader(interruptible{c, c.In}, maxScript+1))
		if err != nil {
			return err
		}
		text = string(b)
	}
	if len(args) > 0 {
		s.params = args[1:]
	}
	s.Run(text)
	return Status(s.end())
}

// runFile runs a script in a shell of its own.
func runFile(c *Context, file string, words []string) error {
	text, err := readScript(file)
	if err != nil {
		var status error = Status(statusNotExecutable)
		if errors.Is(err, syscall.ENOENT) {
			status = Status(statusNotFound)
		}
		c.Shell.complain("sh", coreutils.Message("", err))
		return status
	}
	s := c.again()
	s.state = exported(s.state)
	s.name, s.params = words[0], words[1:]
	s.Run(text)
	return Status(s.end())
}

// end runs what trap has kept for the end of a script, and returns the status of the script.
func (s *Shell) end() int {
	text, status := s.trap, s.status
	if s.trap = ""; text != "" {
		s.Run(text)
		s.status = status
	}
	return s.status
}

func keepTrap(c *Context, args []string) error {
	s := c.Shell
	switch {
	case len(args) == 0 && s.trap == "":
	case len(args) == 0:
		fmt.Fprintf(c.Out, "trap -- %s EXIT\n", quoted(s.trap))
	case len(args) != 2:
		return Usagef("give a script, and EXIT")
	case args[1] != "EXIT" && args[1] != "0":
		return Usagef("%s: only EXIT can be trapped", args[1])
	case args[0] == "-":
		s.trap = ""
	case len(args[0]) > maxBytes/100:
		return Usagef("the script has %d bytes", len(args[0]))
	default:
		s.trap = args[0]
	}
	return nil
}

// exported is the state of a new shell that another one starts.
func exported(from *state) *state {
	t := newState()
	clear(t.vars)
	t.dir, t.depth = from.dir, from.depth
	for name, v := range from.vars {
		if v.Exported {
			t.vars[name] = v
			t.bytes += size(v)
		}
	}
	return t
}

func plainCommand(c *Context, args []string) error {
	switch {
	case len(args) == 0:
		return Usagef("give a command")
	case c.Given('v'):
		return coreutils.EachPath(args, func(name string) error {
			what, _ := c.Shell.whatIs(name)
			if what == "" {
				return Status(statusError)
			}
			_, err := fmt.Fprintln(c.Out, what)
			return err
		})
	}
	c.Shell.invokeCommand(args)
	return Status(c.Shell.status)
}

func tellTypes(c *Context, args []string) error {
	return coreutils.EachPath(args, func(name string) error {
		what, kind := c.Shell.whatIs(name)
		if what == "" {
			return fmt.Errorf("%s: not found", name)
		}
		_, err := fmt.Fprintf(c.Out, "%s is %s\n", name, kind)
		return err
	})
}

// whatIs says what a word would run.
func (s *Shell) whatIs(name string) (what, kind string) {
	switch file, err := s.findProgram(name); {
	case s.funcs[name] != nil:
		return name, "a function"
	case s.builtin(name) != nil:
		return name, "a command of the shell"
	case syntax.IsKeyword(name):
		return name, "a word of the language"
	case err == nil:
		return file, file
	}
	return "", ""
}

// quoted is a text as a word of a script.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
