package shell

import "strconv"

var repeatCommand = &Command{
	Name:  "repeat",
	Usage: "count command... | count 'script'",
	Help:  "run a command several times, or until it fails",
	Run: func(c *Context, args []string) error {
		if len(args) < 2 {
			return Usagef("give a count and a command")
		}
		n, err := strconv.Atoi(args[0])
		if err != nil || n < 0 {
			return Usagef("%q is not a count", args[0])
		}
		text := scriptOf(args[1:])
		for range n {
			if c.Interrupted() {
				return Status(statusInterrupted)
			}
			if status := c.again().Run(text); status != statusOK {
				return Status(status)
			}
		}
		return nil
	},
}
