//go:build tamago

package shell

import (
	"strconv"
	"strings"

	"sonde/optprobe/explain"
	user "sonde/uprobes/explain"
)

var explainCommand = &Command{
	Name:  "explain",
	Usage: "SYMBOL[+OFFSET] | PROGRAM:SYMBOL[+OFFSET] | PROGRAM:OFFSET | -p PID ADDRESS",
	Help:  "what a probe there would be, in the kernel or in a program, and why not",
	Run: func(c *Context, args []string) error {
		if len(args) == 3 && args[0] == "-p" {
			return explainAddress(c, args[1], args[2])
		}
		if len(args) != 1 {
			return Usagef("one place wanted")
		}
		if name, where, ok := strings.Cut(args[0], ":"); ok {
			path, err := findProgram(name)
			if err != nil {
				path = name // a library, perhaps
			}
			return user.File(c.Out, path, where)
		}
		return explain.Explain(c.Out, args[0])
	},
	Complete: func(s *Shell, args []string) []string {
		if s.Symbols == nil {
			return nil
		}
		return s.Symbols(args[len(args)-1])
	},
}

// explainAddress draws a place of a process.
func explainAddress(c *Context, pid, addr string) error {
	id, err := strconv.Atoi(pid)
	if err != nil {
		return Usagef("%s is no process", pid)
	}
	a, err := strconv.ParseUint(strings.TrimPrefix(addr, "0x"), 16, 64)
	if err != nil {
		return Usagef("%s is no address", addr)
	}
	if c.Machine.Programs == nil {
		return missing("programs")
	}
	p, err := c.Machine.Programs.Find(id)
	if err != nil {
		return err
	}
	return user.Address(c.Out, p, a)
}
