package shell

import (
	"io"
	"strings"
)

var echoCommand = &Command{
	Name:  "echo",
	Usage: "[-n] [word...]",
	Help:  "print words (-n: without newline)",

	Verbatim: true,

	Run: echo,
}

func echo(c *Context, args []string) error {
	end := "\n"
	if len(args) > 0 && args[0] == "-n" {
		args, end = args[1:], ""
	}
	_, err := io.WriteString(c.Out, strings.Join(args, " ")+end)
	return err
}
