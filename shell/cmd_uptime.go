package shell

import (
	"fmt"
	"time"
)

var uptimeCommand = &Command{
	Name: "uptime",
	Help: "print how long the kernel has been running",
	Run:  uptime, Alone: true,
}

func uptime(c *Context, _ []string) error {
	m := c.Machine
	if m.Uptime == nil {
		return missing("uptime")
	}
	text := "up " + upTime(m.Uptime())
	if m.Now != nil {
		text = m.Now().Format("15:04:05") + " " + text
	}
	if m.Load != nil {
		l := m.Load().Average
		text += fmt.Sprintf(",  load average: %.2f, %.2f, %.2f", l[0], l[1], l[2])
	}
	_, err := fmt.Fprintf(c.Out, " %s\n", text)
	return err
}

// upTime formats a duration as uptime(1) does: "3 days,  4:05", "7 min"; seconds in the first
// minute, which is when demonstrations run.
func upTime(d time.Duration) string {
	minutes := int(d / time.Minute)
	days, hours := minutes/(24*60), minutes/60%24
	text := ""
	if days == 1 {
		text = "1 day, "
	} else if days > 1 {
		text = fmt.Sprintf("%d days, ", days)
	}
	switch {
	case hours > 0:
		return fmt.Sprintf("%s%2d:%02d", text, hours, minutes%60)
	case minutes > 0:
		return fmt.Sprintf("%s%d min", text, minutes%60)
	}
	return fmt.Sprintf("%d sec", int(d/time.Second))
}
