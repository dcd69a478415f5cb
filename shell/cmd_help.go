package shell

import "fmt"

var helpCommand = &Command{
	Name:     "help",
	Usage:    "[command]",
	Help:     "list the commands, or explain one",
	Run:      help,
	Complete: func(s *Shell, _ []string) []string { return s.commandNames() },
}

func help(c *Context, args []string) error {
	if len(args) > 0 {
		cmd := c.Shell.commands[args[0]]
		if cmd == nil {
			return fmt.Errorf("no command %s%s", args[0], meant(args[0], c.Shell.commandNames()))
		}
		return cmd.describe(c.Out)
	}
	for _, cmd := range c.Shell.Commands() {
		if _, err := fmt.Fprintf(c.Out, "%-10s %s\n", cmd.Name, cmd.Help); err != nil {
			return err
		}
	}
	return nil
}

// commandNames lists the names of all commands.
func (s *Shell) commandNames() []string {
	var names []string
	for _, cmd := range s.Commands() {
		names = append(names, cmd.Name)
	}
	return names
}
