//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"

	"sonde/shell/coreutils"
)

const (
	syntaxError  = coreutils.Status(2)
	cannotOpen   = coreutils.Status(127)
	interrupted  = coreutils.Status(130)
	firstPrompt  = "$ "
	furtherLines = "> "
)

// sh is the shell: sh [-OPTIONS] [-c TEXT | FILE] [ARGUMENT...]. Without text and file, it reads
// commands from its input, and shows prompts if that is a terminal.
//
// It differs from a POSIX shell as its library does: there is no job control, subshells are threads of
// the same process, and $! is not the number of a process.
func sh(u *coreutils.IO, args []string) error {
	options, args, text := split(args)
	name := "sh"
	var from io.Reader
	switch {
	case text && len(args) == 0:
		return errors.New("-c: no commands given")
	case text:
		from, args = strings.NewReader(args[0]), args[1:]
		if len(args) > 0 {
			name, args = args[0], args[1:]
		}
	case len(args) > 0:
		f, err := os.Open(args[0])
		if err != nil {
			fmt.Fprintf(u.Err, "sh: %v\n", err)
			return cannotOpen
		}
		defer f.Close()
		from, name, args = f, args[0], args[1:]
	}
	r, err := interp.New(interp.StdIO(u.In, u.Out, u.Err), interp.Interactive(from == nil),
		interp.Params(append(append(options, "--"), args...)...))
	if err != nil {
		return err
	}
	if from != nil {
		return script(u, r, from, name)
	}
	return input(u, r)
}

// split separates the shell's options from the arguments of the commands. -c stands alone, or is the
// last letter of a group.
func split(args []string) (options, rest []string, text bool) {
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' && !text {
		o := args[0]
		args = args[1:]
		if o == "--" {
			break
		}
		if strings.HasSuffix(o, "c") {
			text, o = true, strings.TrimSuffix(o, "c")
		}
		if o = strings.NewReplacer("i", "", "s", "", "l", "").Replace(o); o != "-" {
			options = append(options, o)
		}
	}
	return options, args, text
}

// script runs all commands of from.
func script(u *coreutils.IO, r *interp.Runner, from io.Reader, name string) error {
	p, err := syntax.NewParser().Parse(from, name)
	if err != nil {
		fmt.Fprintf(u.Err, "sh: %v\n", err)
		return syntaxError
	}
	return exitStatus(r.Run(context.Background(), p))
}

// input runs the commands of the input as they come. On a terminal, ^C ends the command that runs, and
// not the shell.
func input(u *coreutils.IO, r *interp.Runner) error {
	begin, show := context.WithCancel, func(string) {}
	if f, ok := u.In.(*os.File); ok && isTerminal(f) {
		show = func(prompt string) { fmt.Fprint(u.Out, prompt) }
		begin = func(ctx context.Context) (context.Context, context.CancelFunc) {
			return signal.NotifyContext(ctx, os.Interrupt)
		}
		signal.Notify(make(chan os.Signal, 1), os.Interrupt) // between commands, too
	}
	p := syntax.NewParser()
	var last error
	show(firstPrompt)
	err := p.Interactive(u.In, func(list []*syntax.Stmt) bool {
		if p.Incomplete() {
			show(furtherLines)
			return true
		}
		ctx, end := begin(context.Background())
		defer end()
		for _, stmt := range list {
			last = r.Run(ctx, stmt)
			if ctx.Err() != nil { // ^C: the rest of the line does not run either
				last = interrupted
				break
			}
			if r.Exited() {
				return false
			}
		}
		show(firstPrompt)
		return true
	})
	if err != nil {
		fmt.Fprintf(u.Err, "sh: %v\n", err)
		return syntaxError
	}
	return exitStatus(last)
}

// exitStatus converts the error of a runner to one of ours.
func exitStatus(err error) error {
	var code interp.ExitStatus
	if errors.As(err, &code) {
		return coreutils.Status(code)
	}
	return err
}

// isTerminal reports whether f is a character device, and not /dev/null.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	null, nullErr := os.Stat(os.DevNull)
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && (nullErr != nil || !os.SameFile(info, null))
}
