package shell

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime/debug"
	"strings"
	"syscall"

	"sonde/kernel/abi"
	"sonde/kernel/printk"
)

// guard runs a command and turns its panic into an error: a bug in one command should not end the
// kernel.
func guard(cmd *Command, c *Context, args []string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
			printk.Err("shell: %s panicked", cmd.Name)
			printk.Lines(printk.LevelErr, string(debug.Stack()))
		}
	}()
	if len(args) > 0 && args[0] == "--help" && !cmd.Verbatim {
		return cmd.describe(c.Out)
	}
	return cmd.Run(c, args)
}

// describe writes what a command does and its arguments.
func (cmd *Command) describe(w io.Writer) error {
	_, err := fmt.Fprintf(w, "usage: %s\n%s\n", cmd.synopsis(), cmd.Help)
	return err
}

// report prints the error of a command and returns its status.
func report(c *Context, cmd *Command, err error) int {
	var status Status
	switch {
	case err == nil:
		return statusOK
	case errors.As(err, &status):
		return int(status)
	case errors.Is(err, syscall.EPIPE): // the reader has ended, which is not an error
		return 128 + abi.SIGPIPE
	case errors.Is(err, ErrUsage):
		fmt.Fprintf(c.Err, "%s: %s\n", cmd.Name, message(cmd, err))
		fmt.Fprintf(c.Err, "usage: %s\n", cmd.synopsis())
		return statusUsage
	}
	fmt.Fprintf(c.Err, "%s: %s\n", cmd.Name, message(cmd, err))
	return statusError
}

// message is the text of an error without repetitions. cmd may be nil.
func message(cmd *Command, err error) string {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var parts []string
		for _, e := range joined.Unwrap() {
			parts = append(parts, message(cmd, e))
		}
		if cmd == nil {
			return strings.Join(parts, ", ")
		}
		return strings.Join(parts, "\n"+cmd.Name+": ")
	}
	if pe, ok := err.(*fs.PathError); ok {
		if strings.HasPrefix(pe.Op, "write") {
			return pe.Path + ": " + pe.Op + ": " + pe.Err.Error()
		}
		return pe.Path + ": " + pe.Err.Error()
	}
	if cmd == nil {
		return err.Error()
	}
	return strings.TrimPrefix(err.Error(), cmd.Name+": ")
}

// synopsis is the command with its arguments.
func (cmd *Command) synopsis() string {
	return strings.TrimSpace(cmd.Name + " " + cmd.Usage)
}
