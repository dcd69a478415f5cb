package shell

import "strings"

// again is a shell for a command that runs others: it has the command's files, and is ended when
// the command is.
func (c *Context) again() *Shell {
	s := *c.Shell
	s.state = s.state.clone()
	s.interactive = false
	s.In, s.Out, s.Err, s.interrupt = c.In, c.Out, c.Err, c.Interrupt
	return &s
}

// scriptOf is the script in the arguments of such a command: one argument is a script, several are
// the words of one command.
func scriptOf(args []string) string {
	if len(args) == 1 {
		return args[0]
	}
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = quoted(a)
	}
	return strings.Join(words, " ")
}

// path is a path as seen from the shell's directory.
func (c *Context) path(name string) string { return c.Shell.path(name) }

// screen is how many rows and columns the terminal has.
func (s *Shell) screen() (rows, columns int) {
	rows, columns = 24, 80
	if s.Terminal != nil {
		if size := s.Terminal.Winsize(); size.Rows > 3 && size.Cols > 0 {
			rows, columns = int(size.Rows), int(size.Cols)
		}
	}
	return rows, columns
}
