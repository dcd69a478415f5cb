package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// sh is a shell: sh -c COMMAND [NAME ARG...], sh FILE [ARG...], or what standard
// input says, with prompts if that is a terminal.
func sh(args []string) error {
	script, name := io.Reader(os.Stdin), "sh"
	prompts := false
	switch {
	case len(args) > 0 && args[0] == "-c":
		if len(args) < 2 {
			return errors.New("-c: a command is missing")
		}
		script, args = strings.NewReader(args[1]), args[2:]
		if len(args) > 0 {
			name, args = args[0], args[1:]
		}
	case len(args) > 0 && !strings.HasPrefix(args[0], "-"):
		f, err := os.Open(args[0])
		if err != nil {
			return err
		}
		defer f.Close()
		script, name, args = f, args[0], args[1:]
	case len(args) > 0 && args[0] != "-i" && args[0] != "-":
		return fmt.Errorf("unknown option %s", args[0])
	default:
		args = nil
		prompts = isTerminal(os.Stdin)
	}
	r, err := interp.New(interp.Interactive(prompts), interp.StdIO(os.Stdin, os.Stdout, os.Stderr),
		interp.Params(append([]string{"--"}, args...)...))
	if err != nil {
		return err
	}
	if prompts {
		return exitStatus(converse(r))
	}
	prog, err := syntax.NewParser().Parse(script, name)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return status(2)
	}
	return exitStatus(r.Run(context.Background(), prog))
}

// converse runs what is typed, statement by statement.
func converse(r *interp.Runner) (last error) {
	fmt.Fprint(os.Stdout, "$ ")
	parser := syntax.NewParser()
	err := parser.Interactive(os.Stdin, func(list []*syntax.Stmt) bool {
		if parser.Incomplete() {
			fmt.Fprint(os.Stdout, "> ")
			return true
		}
		for _, s := range list {
			last = r.Run(context.Background(), s)
			if r.Exited() {
				return false
			}
		}
		fmt.Fprint(os.Stdout, "$ ")
		return true
	})
	return errors.Join(last, err)
}

// exitStatus makes the shell's error one of ours.
func exitStatus(err error) error {
	var s interp.ExitStatus
	if errors.As(err, &s) {
		return status(s)
	}
	return err
}

// isTerminal reports whether f is a character device, and not /dev/null.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	null, nullErr := os.Stat(os.DevNull)
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && (nullErr != nil || !os.SameFile(info, null))
}
