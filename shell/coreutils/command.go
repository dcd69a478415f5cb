// Package coreutils has the commands that are both commands of the kernel's shell and programs in
// /bin: each does the same, and says the same with --help, in both. It knows no operating system;
// files and signals are the caller's.
package coreutils

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"strings"
	"syscall"

	"sonde/shell/paint"
)

// A Command is one of these commands.
type Command struct {
	Name  string
	Usage string // the arguments: "[-l] [path...]"
	Help  string // one line
	Run   func(u *IO, args []string) error

	// Options are those that are taken out of the arguments, as the function Options reads them; "": none are.
	Options string

	// Verbatim says that --help and -h are ordinary arguments.
	Verbatim bool
}

// Commands are those that the shell and /bin have.
var Commands = []*Command{
	cat, echo, falseCommand, grep, head, killCommand, ls, mkdir, rm, sleep, tail, trueCommand, wc,
}

// IO is what a command reads and writes.
type IO struct {
	Name     string // of the command
	In       io.Reader
	Out, Err io.Writer
	Files    Files
	Opts     // of Command.Options

	// Kill sends a signal to what an argument of kill names.
	Kill func(signal int, target string) error

	// Interrupt is closed when the command must end; it may be nil.
	Interrupt <-chan struct{}
}

// Files is a tree of files. Its errors are those of package os.
type Files interface {
	Open(path string) (io.ReadCloser, error)
	Stat(path string) (fs.FileInfo, error)
	Lstat(path string) (fs.FileInfo, error)
	ReadDir(path string) ([]fs.DirEntry, error)
	Readlink(path string) (string, error)
	Mkdir(path string, perm fs.FileMode) error
	MkdirAll(path string, perm fs.FileMode) error
	Remove(path string) error
}

// Status is an error that sets the exit status and prints nothing.
type Status int

// Error implements error.
func (s Status) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// The statuses that commands have in common.
const (
	Failed      Status = 1
	Misused     Status = 2
	Interrupted Status = 128 + Status(syscall.SIGINT)

	brokenPipe = 128 + int(syscall.SIGPIPE)
)

// ErrUsage is what a command returns, wrapped, when its arguments are wrong.
var ErrUsage = errors.New("usage")

// ErrHelp is what a command returns that is asked what it does.
var ErrHelp = errors.New("help")

// usageError prints as its message alone.
type usageError string

func (e usageError) Error() string { return string(e) }
func (e usageError) Unwrap() error { return ErrUsage }

// Usagef returns an error after which the usage is printed, with status 2.
func Usagef(format string, args ...any) error { return usageError(fmt.Sprintf(format, args...)) }

// Exec runs a command and returns its exit status. It prints what is wrong.
func (c *Command) Exec(u *IO, args []string) int {
	var err error
	if !c.Verbatim && AsksHelp(c.Usage, args) {
		err = ErrHelp
	} else if c.Options == "" {
		err = c.Run(u, args)
	} else if u.Opts, args, err = Options(args, c.Options); err == nil {
		err = c.Run(u, args)
	}
	if errors.Is(err, ErrHelp) {
		err = Describe(u.Out, c.Name, c.Usage, c.Help)
	}
	return Report(u.Err, c.Name, c.Usage, err)
}

// takesH fits a usage with an option -h, such as [-bkmh].
var takesH = regexp.MustCompile(`-[a-zA-Z]*h`)

// AsksHelp reports whether a command is asked what it does: by --help, or by -h alone if that is no option of its own.
func AsksHelp(usage string, args []string) bool {
	return len(args) > 0 && args[0] == "--help" || len(args) == 1 && args[0] == "-h" && !takesH.MatchString(usage)
}

// Describe prints what --help does.
func Describe(w io.Writer, name, usage, help string) error {
	_, err := fmt.Fprintf(w, "usage: %s\n%s\n", synopsis(name, usage), help)
	return err
}

// Report prints the error of a command, at a terminal with the name in a colour, and returns its exit status.
func Report(w io.Writer, name, usage string, err error) int {
	var status Status
	switch {
	case err == nil:
		return 0
	case errors.As(err, &status):
		return int(status)
	case errors.Is(err, syscall.EPIPE): // the reader has ended, which is not an error
		return brokenPipe
	case errors.Is(err, ErrUsage):
		Complain(w, name, Message(name, err)+"\nusage: "+synopsis(name, usage))
		return int(Misused)
	}
	Complain(w, name, Message(name, err))
	return int(Failed)
}

// Complain prints what is wrong after a name, which has a colour at a terminal.
func Complain(w io.Writer, name, text string) {
	text = name + ": " + text + "\n"
	mark := paint.Text(w, paint.Error, name+":")
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			line = mark + rest
		}
		io.WriteString(w, line)
	}
}

// Message is the text of an error of a command without repetitions; the name may be empty.
func Message(name string, err error) string {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var parts []string
		for _, e := range joined.Unwrap() {
			parts = append(parts, Message(name, e))
		}
		if name == "" {
			return strings.Join(parts, ", ")
		}
		return strings.Join(parts, "\n"+name+": ")
	}
	if pe, ok := err.(*fs.PathError); ok {
		if strings.HasPrefix(pe.Op, "write") {
			return pe.Path + ": " + pe.Op + ": " + pe.Err.Error()
		}
		return pe.Path + ": " + pe.Err.Error()
	}
	if name == "" {
		return err.Error()
	}
	return strings.TrimPrefix(err.Error(), name+": ")
}

// synopsis is a command with its arguments.
func synopsis(name, usage string) string { return strings.TrimSpace(name + " " + usage) }
