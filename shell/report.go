package shell

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"sonde/kernel/printk"
	"sonde/shell/coreutils"
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
	if err = cmd.Run(c, args); errors.Is(err, coreutils.ErrHelp) {
		return cmd.describe(c.Out)
	}
	return err
}

// describe writes what a command does and its arguments.
func (cmd *Command) describe(w io.Writer) error {
	return coreutils.Describe(w, cmd.Name, cmd.Usage, cmd.Help)
}

// report prints the error of a command and returns its status.
func report(c *Context, cmd *Command, err error) int {
	return coreutils.Report(c.Err, cmd.Name, cmd.Usage, err)
}
