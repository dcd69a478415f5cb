package shell

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

var psCommand = &Command{
	Name:  "ps",
	Usage: "[ax|aux|-e|-ef|-A]",
	Help:  "list programs and kernel threads, with the CPU of those that run (ax, aux, -ef: programs, in the formats of procps)",
	Run:   ps,
}

func ps(c *Context, args []string) error {
	style := ""
	for _, arg := range args {
		style += strings.TrimPrefix(arg, "-")
	}
	if strings.Trim(style, "axuefAw") != "" {
		return Usagef("unknown option %s", strings.Join(args, " "))
	}
	if programs, err := c.psPrograms(style); style != "" || err != nil {
		return err
	} else if programs {
		fmt.Fprintln(c.Out)
	}
	return c.psTasks()
}

// psTasks lists the kernel's own threads, whose numbers are not process numbers.
func (c *Context) psTasks() error {
	fmt.Fprintln(c.Out, "     ID CPU STAT       AGE NAME                 WAITS FOR")
	for _, t := range c.Machine.tasks() {
		line := fmt.Sprintf("%7d %3s %-4s %9s %-20s %s", t.ID, onCPU(t.CPU), t.State, clock(t.Age), t.Name, t.Note)
		if _, err := fmt.Fprintln(c.Out, strings.TrimRight(line, " ")); err != nil {
			return err
		}
	}
	return nil
}

// onCPU is the column of the CPU, which may be none.
func onCPU(i int) string {
	if i < 0 {
		return "-"
	}
	return strconv.Itoa(i)
}

// clock formats a duration as h:mm:ss.
func clock(d time.Duration) string {
	s := int(d / time.Second)
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}
