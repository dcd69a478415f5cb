package shell

import "fmt"

var historyCommand = &Command{
	Name:  "history",
	Help:  "list the lines entered so far",
	Alone: true,
	Run: func(c *Context, _ []string) error {
		for i, s := range c.Shell.History.Lines() {
			if _, err := fmt.Fprintf(c.Out, "%5d  %s\n", i+1, s); err != nil {
				return err
			}
		}
		return nil
	},
}
