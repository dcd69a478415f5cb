package shell

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"sonde/kernel/proc"
)

var psCommand = &Command{
	Name: "ps",
	Help: "list programs as ps ax does, and the kernel's threads",
	Run:  ps,
}

func ps(c *Context, args []string) error {
	if err := noArgs(args); err != nil {
		return err
	}
	if c.Machine.Programs != nil {
		if err := psPrograms(c.Out, c.Machine.Programs.Processes()); err != nil {
			return err
		}
	}
	fmt.Fprintln(c.Out, "   ID CPU STATE           AGE NAME")
	for _, t := range c.Machine.tasks() {
		cpu := "-"
		if t.CPU >= 0 {
			cpu = strconv.Itoa(t.CPU)
		}
		_, err := fmt.Fprintf(c.Out, "%5d %3s %-9s %9s %s\n", t.ID, cpu, t.State, clock(t.Age), t.Name)
		if err != nil {
			return err
		}
	}
	return nil
}

// psPrograms lists programs, if there are any, with a line after them.
func psPrograms(w io.Writer, all []*proc.Process) error {
	if len(all) == 0 {
		return nil
	}
	fmt.Fprintln(w, "    PID TTY      STAT   TIME COMMAND")
	for _, p := range all {
		tty := "?"
		if p.Terminal() != nil {
			tty = "console"
		}
		used, _ := p.Usage()
		s := int((used.User + used.System) / time.Second)
		_, err := fmt.Fprintf(w, "%7d %-8s %-4s %3d:%02d %s\n", p.PID, tty, psState(p), s/60, s%60, psCommandLine(p))
		if err != nil {
			return err
		}
	}
	fmt.Fprintln(w)
	return nil
}

// psState is the process's state and marks: s leads a session, + is in the terminal's
// foreground.
func psState(p *proc.Process) string {
	state := p.State()
	group, session := p.Group()
	if session == p.PID {
		state += "s"
	}
	if t, ok := p.Terminal().(interface{ Foreground() int }); ok && t.Foreground() == group {
		state += "+"
	}
	return state
}

// psCommandLine is the command line, with a ? for what would spoil the list. A process that has
// ended has only its name.
func psCommandLine(p *proc.Process) string {
	_, args := p.Program()
	line := strings.Join(args, " ")
	switch {
	case p.State() == "Z":
		line = "[" + p.Name() + "] <defunct>"
	case line == "":
		line = "[" + p.Name() + "]"
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, line)
}

// clock writes a duration as h:mm:ss.
func clock(d time.Duration) string {
	s := int(d / time.Second)
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}
