package shell

import (
	"fmt"
	"io"
	"slices"
)

var helpCommand = &Command{
	Name:     "help",
	Usage:    "[command|purpose|program]",
	Help:     "list all commands by purpose, those of a purpose with a line about each, or explain one",
	Run:      help,
	Complete: func(s *Shell, _ []string) []string { return s.helpWords() },
}

func help(c *Context, args []string) error {
	if len(args) == 0 {
		return c.Shell.overview(c.Out)
	}
	word := args[0]
	if cmd := c.Shell.commands[word]; cmd != nil {
		return cmd.describe(c.Out)
	}
	if names := c.Shell.commandsFor(word); len(names) > 0 {
		return c.Shell.lines(c.Out, names)
	}
	if slices.Contains(c.Shell.programNames(), word) {
		_, err := fmt.Fprintf(c.Out, "%s is a program in /bin; try %s --help\n", word, word)
		return err
	}
	return fmt.Errorf("no command, program or purpose %s%s", word, meant(word, c.Shell.helpWords()))
}

// overview fits a screen of 25 lines, with the next prompt.
func (s *Shell) overview(w io.Writer) error {
	for _, p := range purposes {
		if err := writeNames(w, p.name, s.commandsFor(p.name)); err != nil {
			return err
		}
	}
	if err := writeNames(w, "in /bin", s.programNames()); err != nil {
		return err
	}
	_, err := io.WriteString(w, "help probe: a line about each. help explain: all about one. Tab completes.\n")
	return err
}

// lines writes a line about each command.
func (s *Shell) lines(w io.Writer, names []string) error {
	for _, name := range names {
		if _, err := fmt.Fprintf(w, "%-10s %s\n", name, s.commands[name].Help); err != nil {
			return err
		}
	}
	return nil
}

// helpWords is what help can explain.
func (s *Shell) helpWords() []string {
	words := append(s.commandNames(), s.programNames()...)
	for _, p := range purposes {
		words = append(words, p.name)
	}
	return words
}

// commandNames lists the names of all commands.
func (s *Shell) commandNames() []string {
	var names []string
	for _, cmd := range s.Commands() {
		names = append(names, cmd.Name)
	}
	return names
}
