package shell

import (
	"errors"
	"fmt"
	"strings"
)

// errSub is the error of commands that only work in the user's own shell.
var errSub = errors.New("no job control in the background")

var jobsCommand = &Command{
	Name:    "jobs",
	Usage:   "[-lp]",
	Options: "lp", Alone: true,
	Help: "list jobs that run in the background or have stopped (-l: with process numbers, -p: only the numbers)",
	Run:  jobs,
}

func jobs(c *Context, args []string) error {
	for _, j := range c.Shell.jobs.all(c.Shell.within) {
		pid := ""
		if n := j.pid(); n != 0 {
			pid = fmt.Sprint(n)
		}
		switch {
		case c.Given('p'):
			if pid != "" {
				fmt.Fprintln(c.Out, pid)
			}
			continue
		case c.Given('l'):
			pid = fmt.Sprintf("%5s ", pid)
		default:
			pid = ""
		}
		c.Shell.show(c.Out, j, pid)
	}
	return nil
}

var fgCommand = &Command{
	Name:  "fg",
	Usage: "[job]",
	Help:  "move a job to the foreground; name it by %number, by %text that it begins with, or by a process number",
	Run:   fg,
}

func fg(c *Context, args []string) error {
	s := c.Shell
	j, err := s.jobOf(args)
	if err != nil {
		return err
	}
	fmt.Fprintln(c.Out, j.text)
	j.update(func() { j.front = s.Terminal })
	if len(j.programs()) > 0 {
		j.lendTerminal(s)
	}
	s.job.update(func() { s.job.inner = j })
	j.goOn()
	status, _ := s.await(j)
	s.job.update(func() { s.job.inner = nil })
	return Status(status)
}

var bgCommand = &Command{
	Name:  "bg",
	Usage: "[job...]",
	Help:  "continue stopped jobs in the background",
	Run:   bg,
}

func bg(c *Context, args []string) error {
	s := c.Shell
	if len(args) == 0 {
		args = []string{"%+"}
	}
	for _, arg := range args {
		j, err := s.jobOf([]string{arg})
		if err != nil {
			return err
		}
		switch now, _ := j.look(); now {
		case running:
			return fmt.Errorf("job %d already in background", j.number)
		case ended:
			return fmt.Errorf("job has terminated")
		}
		s.jobs.put(j)
		j.goOn()
		fmt.Fprintf(c.Out, "[%d]+ %s &\n", j.number, j.text)
	}
	return nil
}

// jobOf returns the job that fg's arguments name, or the current one.
func (s *Shell) jobOf(args []string) (*job, error) {
	switch {
	case s.within != nil:
		return nil, errSub
	case len(args) > 1:
		return nil, Usagef("give one job")
	case len(args) == 0:
		args = []string{"%+"}
	}
	j, err := s.jobs.find(args[0], s.within)
	if err != nil && args[0] != "" && args[0][0] != '%' {
		return s.jobs.find("%"+args[0], s.within) // fg 1
	}
	if err != nil && args[0] == "%+" {
		err = errors.New("current: no such job")
	}
	return j, err
}

var waitCommand = &Command{
	Name:  "wait",
	Usage: "[job...]",
	Help:  "wait until background jobs have ended; the status is that of the last one named",
	Run:   wait,
}

func wait(c *Context, args []string) error {
	s := c.Shell
	status := statusOK
	for _, arg := range args {
		j, err := s.jobs.find(arg, s.within)
		if err != nil && !strings.HasPrefix(arg, "%") {
			fmt.Fprintf(c.Err, "wait: pid %s is not a child of this shell\n", arg)
			status = statusNotFound
			continue
		}
		if err != nil {
			fmt.Fprintf(c.Err, "wait: %v\n", err)
			status = statusNotFound
			continue
		}
		if !s.waitFor(c, j) {
			return Status(statusInterrupted)
		}
		status, _ = j.outcome()
	}
	if len(args) == 0 {
		for _, j := range s.jobs.all(s.within) {
			if now, _ := j.look(); now != stopped && !s.waitFor(c, j) {
				return Status(statusInterrupted)
			}
		}
	}
	return Status(status)
}

// waitFor waits until a job has ended or stopped; then it reports that, except in a script.
func (s *Shell) waitFor(c *Context, j *job) bool {
	for now, changed := j.look(); now == running; now, changed = j.look() {
		select {
		case <-changed:
		case <-c.Interrupt:
			return false
		}
	}
	if now, _ := j.look(); now == ended && !s.interactive {
		s.jobs.remove(j)
	}
	return true
}
