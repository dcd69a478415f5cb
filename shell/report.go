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
	if !cmd.Verbatim && coreutils.AsksHelp(cmd.Usage, args) {
		return cmd.describe(c.Out)
	}
	if err = cmd.run(c, args); errors.Is(err, coreutils.ErrHelp) {
		return cmd.describe(c.Out)
	}
	return err
}

// run runs a command with its options taken out of args.
func (cmd *Command) run(c *Context, args []string) (err error) {
	if cmd.Options != "" {
		if c.Opts, args, err = coreutils.Options(args, cmd.Options); err != nil {
			return err
		}
	}
	if cmd.Alone && len(args) > 0 {
		return Usagef("takes no arguments")
	}
	return cmd.Run(c, args)
}

// describe writes what a command does and its arguments.
func (cmd *Command) describe(w io.Writer) error {
	return coreutils.Describe(w, cmd.Name, cmd.Usage, cmd.Help)
}

// report prints the error of a command and returns its status.
func report(c *Context, cmd *Command, err error) int {
	return coreutils.Report(c.Shell.painted(c.Err), cmd.Name, cmd.Usage, err)
}
