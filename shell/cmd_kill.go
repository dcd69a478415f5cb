package shell

import (
	"fmt"
	"strconv"
	"strings"

	"sonde/kernel/abi"
)

var killCommand = &Command{
	Name:  "kill",
	Usage: "[-signal] job|process|-group... | -l",
	Help:  "send a signal to programs (default: SIGTERM; -l: list the signals)",
	Run:   kill,
}

func kill(c *Context, args []string) error {
	if len(args) == 1 && args[0] == "-l" {
		return listSignals(c)
	}
	n, args, err := signalOf(args)
	if err != nil {
		return err
	}
	if len(args) == 0 {
		return Usagef("give a job, a process or a group")
	}
	status := statusOK
	for _, arg := range args {
		if err := c.kill(n, arg); err != nil {
			fmt.Fprintf(c.Err, "kill: %v\n", err)
			status = statusError
		}
	}
	return Status(status)
}

// signalOf removes the signal from the arguments: -9, -KILL, -s KILL.
func signalOf(args []string) (n int, rest []string, err error) {
	name := ""
	switch {
	case len(args) == 0 || len(args[0]) < 2 || args[0][0] != '-':
		return abi.SIGTERM, args, nil
	case args[0] == "--":
		return abi.SIGTERM, args[1:], nil
	case (args[0] == "-s" || args[0] == "-n") && len(args) > 1:
		name, rest = args[1], args[2:]
	default:
		name, rest = args[0][1:], args[1:]
	}
	n, ok := abi.SignalByName(strings.ToUpper(name))
	if !ok {
		return 0, nil, Usagef("there is no signal %s", name)
	}
	if len(rest) > 0 && rest[0] == "--" {
		rest = rest[1:]
	}
	return n, rest, nil
}

// kill sends a signal to the process or job that an argument names.
func (c *Context) kill(n int, arg string) error {
	if strings.HasPrefix(arg, "%") {
		j, err := c.Shell.jobs.find(arg, c.Shell.within)
		if err != nil {
			return err
		}
		return killJob(j, n)
	}
	pid, err := strconv.Atoi(arg)
	if err != nil {
		return fmt.Errorf("%s: arguments must be process or job numbers", arg)
	}
	t := c.Machine.Programs
	if t == nil {
		return errNoPrograms
	}
	if pid < 0 {
		err = t.SendGroup(-pid, n)
	} else if p, e := t.Find(pid); e != nil {
		err = e
	} else {
		err = p.Send(n)
	}
	if err != nil {
		return fmt.Errorf("(%d) - %w", pid, err)
	}
	return nil
}

// killJob sends a signal to all members of a job. A stopped job is continued, so that it can end.
func killJob(j *job, n int) error {
	now, _ := j.look()
	switch {
	case now == ended:
		return fmt.Errorf("%%%d: the job has ended", j.number)
	case n == 0:
		return nil
	}
	j.send(n)
	if now == stopped && (n == abi.SIGTERM || n == abi.SIGHUP || n == abi.SIGCONT) {
		j.goOn()
	}
	return nil
}

func listSignals(c *Context) error {
	for n := 1; n < abi.SIGRTMIN; n++ {
		end := " "
		if n%8 == 0 || n == abi.SIGRTMIN-1 {
			end = "\n"
		}
		if _, err := fmt.Fprintf(c.Out, "%2d) SIG%-7s%s", n, abi.SignalName(n), end); err != nil {
			return err
		}
	}
	return nil
}
