package shell

import "io"

var clearCommand = &Command{
	Name: "clear",
	Help: "clear the screen",
	Run: func(c *Context, _ []string) error {
		_, err := io.WriteString(c.Out, "\x1b[H\x1b[2J")
		return err
	},
}
