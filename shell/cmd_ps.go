package shell

import (
	"fmt"
	"strconv"
	"time"
)

var psCommand = &Command{
	Name: "ps",
	Help: "list the kernel's threads",
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
	return nil
}

// clock writes a duration as h:mm:ss.
func clock(d time.Duration) string {
	s := int(d / time.Second)
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}
