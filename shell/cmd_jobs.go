package shell

import (
	"fmt"
	"slices"
	"strconv"

	"sonde/kernel/abi"
	"sonde/kernel/proc"
	"sonde/kernel/proc/signal"
)

var jobsCommand = &Command{
	Name: "jobs",
	Help: "list programs that have stopped",
	Run:  jobs,
}

func jobs(c *Context, args []string) error {
	if err := noArgs(args); err != nil {
		return err
	}
	for i, j := range c.Shell.jobs {
		fmt.Fprintf(c.Out, "[%d] Stopped  %s\n", i+1, j.name)
	}
	return nil
}

var fgCommand = &Command{
	Name:  "fg",
	Usage: "[number]",
	Help:  "let a program that has stopped go on",
	Run:   fg,
}

func fg(c *Context, args []string) error {
	s := c.Shell
	n := len(s.jobs)
	if len(args) > 1 {
		return Usagef("one job")
	}
	if len(args) == 1 {
		var err error
		if n, err = strconv.Atoi(args[0]); err != nil {
			return Usagef("%q is no number", args[0])
		}
	}
	if n < 1 || n > len(s.jobs) {
		return fmt.Errorf("fg: no such job")
	}
	j := s.jobs[n-1]
	s.jobs = slices.Delete(s.jobs, n-1, n)
	j.c = c // a ^C from now on is for it, the terminal's or ours
	j.foreground()
	fmt.Fprintln(c.Out, j.name)
	group, _ := j.process.Group()
	c.Machine.Programs.SendGroup(group, proc.SignalOf(abi.SIGCONT))
	return j.wait()
}

var killCommand = &Command{
	Name:  "kill",
	Usage: "[-signal] process...",
	Help:  "send a signal to programs, SIGTERM unless another is named",
	Run:   kill,
}

func kill(c *Context, args []string) error {
	n := abi.SIGTERM
	if len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		var ok bool
		if n, ok = signal.ByName(args[0][1:]); !ok {
			return Usagef("no signal %s", args[0][1:])
		}
		args = args[1:]
	}
	if len(args) == 0 {
		return Usagef("which process?")
	}
	if c.Machine.Programs == nil {
		return missing("programs")
	}
	for _, arg := range args {
		pid, err := strconv.Atoi(arg)
		if err != nil {
			return Usagef("%q is no number", arg)
		}
		p, err := c.Machine.Programs.Find(pid)
		if err == nil {
			err = p.Send(proc.SignalFrom(c.Machine.Programs.Init(), n, abi.SI_USER))
		}
		if err != nil {
			return fmt.Errorf("kill: %d: %w", pid, err)
		}
	}
	return nil
}
