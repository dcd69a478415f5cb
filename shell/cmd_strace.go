package shell

import (
	"fmt"
	"strconv"

	"sonde/kernel/strace"
)

var straceCommand = &Command{
	Name:  "strace",
	Usage: "[-f] [-c] [-p PID] [program [argument...]]",
	Help:  "print the system calls of a program as strace does: -f with its children, -c counts only",
	Run:   runStrace,
	Job:   true,
}

func runStrace(c *Context, args []string) error {
	opts, args, err := Options(args, "fcp:")
	if err != nil {
		return err
	}
	_, follow := opts['f']
	_, counts := opts['c']
	pid, attach := opts['p']
	if attach == (len(args) > 0) {
		return Usagef("a program or -p PID")
	}
	if c.Machine.Programs == nil {
		return missing("programs")
	}
	t := strace.New(c.Err, strace.Options{Follow: follow, Count: counts})
	if attach {
		err = straceAttach(c, t, pid)
	} else {
		err = straceProgram(c, t, args)
	}
	t.Detach()
	if counts {
		t.WriteTable(c.Err)
	}
	return err
}

// straceProgram runs a program to its end.
func straceProgram(c *Context, t *strace.Tracer, args []string) error {
	path, err := findProgram(args[0])
	if err != nil {
		return fmt.Errorf("strace: Cannot find executable '%s'", args[0])
	}
	return runProgram(c, path, args, t.Attach)
}

// straceAttach looks at a process until it ends, or ^C.
func straceAttach(c *Context, t *strace.Tracer, number string) error {
	pid, err := strconv.Atoi(number)
	if err != nil {
		return Usagef("%q is no number", number)
	}
	p, err := c.Machine.Programs.Find(pid)
	if err != nil || p == c.Machine.Programs.Init() {
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
