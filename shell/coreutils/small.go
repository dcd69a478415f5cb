package coreutils

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"sonde/kernel/abi"
)

var trueCommand = &Command{
	Name: "true", Help: "succeed",
	Run: func(*IO, []string) error { return nil },
}

var falseCommand = &Command{
	Name: "false", Help: "fail",
	Run: func(*IO, []string) error { return Failed },
}

var echo = &Command{
	Name:  "echo",
	Usage: "[-n] [word...]",
	Help:  "print words (-n: without newline)",

	Verbatim: true,

	Run: func(u *IO, args []string) error {
		end := "\n"
		if len(args) > 0 && args[0] == "-n" {
			args, end = args[1:], ""
		}
		_, err := io.WriteString(u.Out, strings.Join(args, " ")+end)
		return err
	},
}

var sleep = &Command{
	Name:  "sleep",
	Usage: "seconds",
	Help:  "wait; the time may have a fraction or a unit: 0.5, 10ms",
	Run:   wait,
}

func wait(u *IO, args []string) error {
	if len(args) != 1 {
		return Usagef("give one duration")
	}
	d, err := time.ParseDuration(args[0])
	if err != nil {
		seconds, err := strconv.ParseFloat(args[0], 64)
		if err != nil || !(seconds < 1e9) {
			return Usagef("%q is not a duration", args[0])
		}
		d = time.Duration(seconds * float64(time.Second))
	}
	if d < 0 {
		return Usagef("%q is negative", args[0])
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-u.Interrupt:
		return Interrupted
	}
}

var killCommand = &Command{
	Name:  "kill",
	Usage: "[-signal] job|process|-group... | -l",
	Help:  "send a signal to programs (default: SIGTERM; -l: list the signals)",
	Run: func(u *IO, args []string) error {
		if len(args) == 1 && args[0] == "-l" {
			return listSignals(u.Out)
		}
		n, args, err := signalOf(args)
		if err != nil {
			return err
		}
		if len(args) == 0 {
			return Usagef("give a job, a process or a group")
		}
		var status error
		for _, arg := range args {
			if err := u.Kill(n, arg); err != nil {
				Complain(u.Err, "kill", err.Error())
				status = Failed
			}
		}
		return status
	},
}

// Pid reads an argument of kill that is a process or a group.
func Pid(arg string) (int, error) {
	pid, err := strconv.Atoi(arg)
	if err != nil {
		return 0, fmt.Errorf("%s: arguments must be process or job numbers", arg)
	}
	return pid, nil
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

func listSignals(w io.Writer) error {
	for n := 1; n < abi.SIGRTMIN; n++ {
		end := " "
		if n%8 == 0 || n == abi.SIGRTMIN-1 {
			end = "\n"
		}
		if _, err := fmt.Fprintf(w, "%2d) SIG%-7s%s", n, abi.SignalName(n), end); err != nil {
			return err
		}
	}
	return nil
}
