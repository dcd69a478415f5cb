//go:build !nolinux

package shell

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"sonde/kernel/vfs"
	"sonde/linux/strace"
	"sonde/linux/symbols"
	syscalls "sonde/linux/syscall"
)

var straceCommand = &Command{
	Name:    "strace",
	Usage:   "[-fcTrtyk] [-e trace=[!]call,...] [-o file] -p PID | program [argument...]",
	Options: "+fcTrtykp:e:o:",
	Help:    "print the system calls of a program (-f: also of its children, -c: only counts, -T: how long calls take, -t, -tt, -ttt, -r: when, -y: which files descriptors are of, -k: the calls that led there)",
	Run:     runStrace,
}

func init() { builtins = append(builtins, straceCommand) }

func runStrace(c *Context, args []string) (err error) {
	o := strace.Options{Follow: c.Given('f'), Count: c.Given('c'), Took: c.Given('T'), Paths: c.Given('y'), Stamp: straceStamp(c.Opts['t'], c.Given('r'))}
	if o.Wanted, err = straceWanted(c.Opts['e']); err != nil {
		return err
	}
	pid, attach := c.Opts['p']
	if attach == (len(args) > 0) {
		return Usagef("give a program, or -p PID")
	}
	if c.Machine.Programs == nil {
		return errNoPrograms
	}
	if c.Given('k') {
		names := symbols.Watch(TableOf(c.Machine))
		defer names.Close()
		o.Symbols = names
	}
	out := c.Err
	if path, ok := c.Opts['o']; ok {
		f, err := vfs.Open(c.path(path), os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
		if err != nil {
			return err
		}
		defer vfs.Close(f)
		out = f
	}
	t := strace.New(out, o)
	if attach {
		err = straceAttach(c, t, pid)
	} else {
		err = straceProgram(c, t, args)
	}
	t.Detach()
	if o.Count {
		t.WriteTable(out)
	}
	return err
}

// straceStamp is how lines say when they begin: by how often -t is given, since the line before, or both.
//
// Source: strace, printleader() in strace.c.
func straceStamp(t string, relative bool) func(time.Time) string {
	when := straceClock(t)
	if !relative {
		return when
	}
	since := strace.Since()
	if when == nil {
		return since
	}
	return func(now time.Time) string { return when(now) + " (+" + since(now) + ")" }
}

// straceClock is the time by how often -t is given; nil: not at all.
func straceClock(t string) func(time.Time) string {
	switch {
	case t == "":
		return nil
	case len(t) > 2:
		return func(now time.Time) string { return fmt.Sprintf("%d.%06d", now.Unix(), now.Nanosecond()/1000) }
	}
	format := time.TimeOnly
	if len(t) == 2 {
		format += ".000000"
	}
	return func(now time.Time) string { return now.Format(format) }
}

// straceWanted reads the argument of -e: names of calls, or with "!" the names to leave out.
func straceWanted(text string) (func(string) bool, error) {
	if text == "" {
		return nil, nil
	}
	text = strings.TrimPrefix(text, "trace=")
	text, not := strings.CutPrefix(text, "!")
	names := make(map[string]bool)
	for name := range strings.SplitSeq(text, ",") {
		if !syscalls.Known(name) {
			return nil, fmt.Errorf("invalid system call '%s'", name)
		}
		names[name] = true
	}
	return func(name string) bool { return names[name] != not }, nil
}

// straceProgram runs a program to its end.
func straceProgram(c *Context, t *strace.Tracer, args []string) error {
	path, err := c.Shell.findProgram(args[0])
	if err != nil {
		//lint:ignore ST1005 strace says it so
		return fmt.Errorf("Can't stat '%s': %w", args[0], err)
	}
	return runProgram(c, path, args, func(p Program) { t.Began(p.(process).Process, len(c.Shell.environ())) })
}

// straceAttach traces a process until it ends, or ^C.
func straceAttach(c *Context, t *strace.Tracer, number string) error {
	pid, err := strconv.Atoi(number)
	if err != nil {
		return Usagef("%q is not a number", number)
	}
	table := TableOf(c.Machine)
	p, err := table.Find(pid)
	if err != nil || p == table.Init() {
		return fmt.Errorf("strace: there is no process %d", pid)
	}
	fmt.Fprintf(c.Err, "strace: Process %d attached\n", pid)
	t.Attach(p)
	select {
	case <-p.Done():
	case <-c.Interrupt:
		fmt.Fprintf(c.Err, "strace: Process %d detached\n", pid)
	}
	return nil
}
