package shell

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"
)

// Command is one command of the shell.
type Command struct {
	Name  string
	Usage string // the arguments: "[-l] [path...]"
	Help  string // one line
	Run   func(c *Context, args []string) error

	// Verbatim says that --help is an ordinary argument.
	Verbatim bool

	// Complete lists the possible values of the last of args; nil means paths.
	Complete func(s *Shell, args []string) []string
}

// Context is the environment in which a command runs. args do not include its name.
type Context struct {
	In       io.Reader
	Out, Err io.Writer
	Shell    *Shell
	Machine  *Machine

	// Interrupt is closed when ^C is typed; nil if there is no terminal.
	Interrupt <-chan struct{}
}

// Interrupted reports whether ^C was typed.
func (c *Context) Interrupted() bool {
	select {
	case <-c.Interrupt:
		return true
	default:
		return false
	}
}

// Status is an error that only sets $? and prints nothing.
type Status int

// Error implements error.
func (s Status) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// Statuses that the shell itself sets.
const (
	statusOK    = 0
	statusError = 1
	statusUsage = 2

	statusNotExecutable = 126
	statusNotFound      = 127
	statusInterrupted   = 130
)

// ErrUsage is what a command returns, wrapped, when its arguments are wrong.
var ErrUsage = errors.New("usage")

// usageError prints as its message alone.
type usageError string

func (e usageError) Error() string { return string(e) }
func (e usageError) Unwrap() error { return ErrUsage }

// Usagef returns an error that makes the shell print the usage, with status 2.
func Usagef(format string, args ...any) error {
	return usageError(fmt.Sprintf(format, args...))
}

// Options takes single-letter options out of args, as getopt(3) does. known lists them; a letter followed
// by ":" takes a value, and the value of any other is the letter, once for each time that it was given.
// "--" ends them; with "+" at the beginning of known, the first word that is not an option does, too.
//
// Errors: ErrUsage.
func Options(args []string, known string) (opts map[byte]string, operands []string, err error) {
	known, first := strings.CutPrefix(known, "+")
	opts = make(map[byte]string)
	for len(args) > 0 {
		word := args[0]
		args = args[1:]
		if word == "--" {
			break
		}
		if len(word) < 2 || word[0] != '-' {
			operands = append(operands, word)
			if first {
				break
			}
			continue
		}
		for i := 1; i < len(word); i++ {
			at := strings.IndexByte(known, word[i])
			if at < 0 || word[i] == ':' {
				return nil, nil, Usagef("unknown option -%c", word[i])
			}
			if !strings.HasPrefix(known[at+1:], ":") {
				opts[word[i]] += word[i : i+1]
				continue
			}
			value := word[i+1:]
			if value == "" {
				if len(args) == 0 {
					return nil, nil, Usagef("option -%c needs a value", word[i])
				}
				value, args = args[0], args[1:]
			}
			opts[word[i]] = value
			break
		}
	}
	return opts, append(operands, args...), nil
}

// noArgs refuses any argument.
func noArgs(args []string) error {
	if len(args) > 0 {
		return Usagef("takes no arguments")
	}
	return nil
}

// missing is the error if the machine does not provide a function.
//
// Errors: ENOSYS.
func missing(what string) error {
	return fmt.Errorf("%s: %w", what, syscall.ENOSYS)
}

// builtins are the commands that every shell has, also in tests on the host;
// machine_commands_tamago.go adds the others.
var builtins = []*Command{
	acpidumpCommand, bgCommand, catCommand, clearCommand, dateCommand, dmesgCommand, dmidecodeCommand, echoCommand, falseCommand,
	exitCommand, fgCommand, freeCommand, grepCommand, headCommand, hexdumpCommand, historyCommand, insmodCommand,
	jobsCommand, killCommand, lessCommand, lsCommand, lscpuCommand, lsmodCommand, mkdirCommand, modinfoCommand, moreCommand,
	poweroffCommand, psCommand, rebootCommand, rmCommand, rmmodCommand,
	sleepCommand, sysctlCommand, tailCommand, trueCommand, unameCommand,
	uptimeCommand, waitCommand, wcCommand,
}

// Commands returns all commands, sorted by name.
func (s *Shell) Commands() []*Command {
	all := make([]*Command, 0, len(s.commands))
	for _, c := range s.commands {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b *Command) int { return strings.Compare(a.Name, b.Name) })
	return all
}
