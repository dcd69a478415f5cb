package shell

import "strconv"

var exitCommand = &Command{
	Name:  "exit",
	Usage: "[status]",
	Help:  "end the script or session with this status, or with that of the last command",
	Run: func(c *Context, args []string) error {
		status := c.Shell.status
		if len(args) > 1 {
			return Usagef("give one status")
		}
		if len(args) == 1 {
			n, err := strconv.Atoi(args[0])
			if err != nil || n < 0 || n > 255 {
				return Usagef("%q is not a status from 0 to 255", args[0])
			}
			status = n
		}
		c.Shell.flow = leaving
		return Status(status)
	},
}
