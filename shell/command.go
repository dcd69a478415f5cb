package shell

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"

	"sonde/shell/coreutils"
)

// Command is one command of the shell.
type Command struct {
	Name  string
	Usage string // the arguments: "[-l] [path...]"
	Help  string // one line
	Run   func(c *Context, args []string) error

	// Options are those that are taken out of the arguments, as coreutils.Options reads them; "": none are.
	Options string

	// Alone says that there are no further arguments.
	Alone bool

	// Verbatim says that --help and -h are ordinary arguments.
	Verbatim bool

	// Complete lists the possible values of the last of args; nil means paths.
	Complete func(s *Shell, args []string) []string
}

// Context is the environment in which a command runs. args do not include its name.
type Context struct {
	In             io.Reader
	Out, Err       io.Writer
	Shell          *Shell
	Machine        *Machine
	coreutils.Opts // of Command.Options

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
type Status = coreutils.Status

// Statuses that the shell itself sets.
const (
	statusOK    = 0
	statusError = 1
	statusUsage = 2

	statusNotExecutable = 126
	statusNotFound      = 127
	statusInterrupted   = 130
)

// Usagef returns an error that makes the shell print the usage, with status 2.
func Usagef(format string, args ...any) error { return coreutils.Usagef(format, args...) }

// missing is the error if the machine does not provide a function.
//
// Errors: ENOSYS.
func missing(what string) error { return fmt.Errorf("%s: %w", what, syscall.ENOSYS) }

// builtins are the commands that every shell has, also in tests on the host;
// machine_commands_tamago.go adds the others.
var builtins = []*Command{
	acpidumpCommand, bgCommand, clearCommand, dateCommand, dmesgCommand, dmidecodeCommand,
	exitCommand, fgCommand, freeCommand, hexdumpCommand, historyCommand, insmodCommand,
	jobsCommand, lessCommand, lscpuCommand, lsmodCommand, modinfoCommand, moreCommand,
	poweroffCommand, psCommand, rebootCommand, rmmodCommand, sysctlCommand, unameCommand, uptimeCommand, waitCommand,
}

// Has reports whether there is a command of the shell's own.
func (s *Shell) Has(name string) bool { return s.commands[name] != nil }

// Commands returns all commands, sorted by name.
func (s *Shell) Commands() []*Command {
	all := make([]*Command, 0, len(s.commands))
	for _, c := range s.commands {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b *Command) int { return strings.Compare(a.Name, b.Name) })
	return all
}
