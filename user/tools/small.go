package tools

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// True succeeds.
func True(Streams, []string) error { return nil }

// False fails.
func False(Streams, []string) error { return Status(1) }

// Echo prints its arguments and, without -n, a newline.
func Echo(s Streams, args []string) error {
	end := "\n"
	if len(args) > 0 && args[0] == "-n" {
		end, args = "", args[1:]
	}
	_, err := fmt.Fprint(s.Out, strings.Join(args, " "), end)
	return err
}

// Seq prints numbers: [FIRST [STEP]] LAST.
func Seq(s Streams, args []string) error {
	if len(args) < 1 || len(args) > 3 {
		fmt.Fprintln(s.Err, "usage: seq [FIRST [STEP]] LAST")
		return usage
	}
	var v [3]int
	for i, text := range args {
		n, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("%q is not a whole number", text)
		}
		v[i] = n
	}
	first, step, last := 1, 1, v[len(args)-1]
	switch len(args) {
	case 2:
		first = v[0]
	case 3:
		first, step = v[0], v[1]
	}
	if step == 0 {
		return errors.New("the step must not be 0")
	}
	return buffered(s.Out, func(w *bufio.Writer) error {
		for i := first; step > 0 && i <= last || step < 0 && i >= last; i += step {
			if _, err := fmt.Fprintln(w, i); err != nil {
				return err
			}
		}
		return nil
	})
}

// Env runs a command with additional variables, or prints all variables.
func Env(s Streams, args []string) error {
	vars := os.Environ()
	for len(args) > 0 && strings.Contains(args[0], "=") {
		vars, args = append(vars, args[0]), args[1:]
	}
	if len(args) == 0 {
		for _, v := range vars {
			fmt.Fprintln(s.Out, v)
		}
		return nil
	}
	path, err := exec.LookPath(args[0])
	if err != nil {
		fmt.Fprintf(s.Err, "env: %v\n", err)
		return Status(127)
	}
	return syscall.Exec(path, args, vars)
}

// Ln gives a file another name: ln [-s] [-f] FILE... NAME.
func Ln(s Streams, args []string) error {
	f := Flags(s, "ln")
	symbolic, force := f.Bool("s", false, "make a symbolic link"), f.Bool("f", false, "replace an existing file")
	if err := Parse(f, args); err != nil {
		return err
	}
	if f.NArg() != 2 {
		fmt.Fprintln(s.Err, "usage: ln [-s] [-f] FILE NAME")
		return usage
	}
	old, name := f.Arg(0), f.Arg(1)
	if i, err := os.Stat(name); err == nil && i.IsDir() {
		name = filepath.Join(name, filepath.Base(old))
	}
	if *force {
		if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	if *symbolic {
		return os.Symlink(old, name)
	}
	return os.Link(old, name)
}

// signals are those that Kill knows by name.
var signals = map[string]syscall.Signal{
	"HUP": syscall.SIGHUP, "INT": syscall.SIGINT, "QUIT": syscall.SIGQUIT, "KILL": syscall.SIGKILL, "USR1": syscall.SIGUSR1,
	"USR2": syscall.SIGUSR2, "PIPE": syscall.SIGPIPE, "ALRM": syscall.SIGALRM, "TERM": syscall.SIGTERM, "CHLD": syscall.SIGCHLD,
	"CONT": syscall.SIGCONT, "STOP": syscall.SIGSTOP, "TSTP": syscall.SIGTSTP, "SEGV": syscall.SIGSEGV, "ABRT": syscall.SIGABRT,
}

// Kill sends a signal: kill [-NAME | -NUMBER] PID...
func Kill(s Streams, args []string) error {
	sig := syscall.SIGTERM
	if len(args) > 1 && strings.HasPrefix(args[0], "-") {
		name := strings.TrimPrefix(strings.ToUpper(args[0][1:]), "SIG")
		n, err := strconv.Atoi(name)
		var ok bool
		if sig, ok = signals[name]; !ok {
			if err != nil {
				return fmt.Errorf("no signal %q", args[0][1:])
			}
			sig = syscall.Signal(n)
		}
		args = args[1:]
	}
	if len(args) == 0 {
		fmt.Fprintln(s.Err, "usage: kill [-SIGNAL] PID...")
		return usage
	}
	for _, text := range args {
		pid, err := strconv.Atoi(text)
		if err == nil {
			err = syscall.Kill(pid, sig)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return nil
}
