package shell

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"sonde/kernel/proc"
)

var psCommand = &Command{
	Name: "ps",
	Help: "list the kernel's threads, and programs",
	Run:  ps,
}

func ps(c *Context, args []string) error {
	if err := noArgs(args); err != nil {
		return err
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
	return psPrograms(c)
}

// psPrograms lists programs in the words of Linux's ps, if there are any.
func psPrograms(c *Context) error {
	if c.Machine.Programs == nil {
		return nil
	}
	all := c.Machine.Programs.Processes()
	if len(all) == 0 {
		return nil
	}
	fmt.Fprintln(c.Out, "  PID  PPID  PGID   SID STAT     TIME COMMAND")
	for _, p := range all {
		group, session := p.Group()
		used, _ := p.Usage()
		_, err := fmt.Fprintf(c.Out, "%5d %5d %5d %5d %-4s %8s %s\n", p.PID, p.Parent(), group, session,
			p.State(), clock(used.User+used.System), commandOf(p))
		if err != nil {
			return err
		}
	}
	return nil
}

// commandOf is a process's command line; the name alone of one that has ended.
func commandOf(p *proc.Process) string {
	_, args := p.Program()
	if p.State() == "Z" {
		return "[" + p.Name() + "] <defunct>"
	}
	return strings.Join(args, " ")
}

// clock writes a duration as h:mm:ss.
func clock(d time.Duration) string {
	s := int(d / time.Second)
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}
