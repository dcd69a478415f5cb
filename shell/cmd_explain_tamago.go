//go:build tamago && !noprobe

package shell

import (
	"bytes"
	"io"
	"strconv"
	"strings"

	"sonde/arch/amd64/listing"
	"sonde/optprobe/explain"
	"sonde/probe/attach"
	"sonde/shell/paint"
)

var explainCommand = &Command{
	Name:    "explain",
	Usage:   "[-s] SYMBOL[+OFFSET] | FILE.go:LINE | inline:FUNCTION | PROGRAM:SYMBOL[+OFFSET] | PROGRAM:OFFSET | PID:ADDRESS | -p PID ADDRESS | -j FUNCTION | -j FILE.go:FIRST-LAST",
	Options: "sjp:",
	Help:    "show how a place in the kernel or a program would be probed, or why it cannot be (-s: short enough for a slide; -j: all lines of a function, or of a file, as JSON)",
	Run: func(c *Context, args []string) error {
		if len(args) != 1 {
			return Usagef("give one place")
		}
		place := args[0]
		if c.Given('j') {
			return explainLines(c, place)
		}
		if pid, ok := c.Opts['p']; ok {
			if err := notPID(pid); err != nil {
				return err
			}
			place = pid + ":0x" + strings.TrimPrefix(place, "0x")
		}
		at, err := c.site(place, attach.Kernel, attach.Program, attach.Line, attach.Inline)
		if err != nil {
			return err
		}
		if c.Given('s') && at.Kind != attach.Program && !at.Return {
			return explain.Slide(c.Out, at)
		}
		var b bytes.Buffer
		err = explainSite(c, paint.Like(c.Shell.painted(c.Out), &b), at)
		if err != nil || !c.Given('s') {
			c.Out.Write(b.Bytes())
			return err
		}
		return listing.Slide(c.Out, b.String())
	},
	Complete: func(s *Shell, args []string) []string {
		if s.Symbols == nil {
			return nil
		}
		return s.Symbols(args[len(args)-1])
	},
}

// notPID refuses a value of -p that is not a number.
func notPID(pid string) error {
	if _, err := strconv.Atoi(pid); err != nil {
		return Usagef("-p takes the number of a process, not %q", pid)
	}
	return nil
}

// explainSite draws a place of the kernel or of a program.
func explainSite(c *Context, w io.Writer, at attach.Site) error {
	switch {
	case at.Return:
		return Usagef("%s is not an instruction; give the function", at)
	case at.Kind != attach.Program:
		return explain.Explain(w, at)
	case at.File == "":
		return explainAddress(c, w, at)
	}
	if path, err := c.Shell.findProgram(at.File); err == nil { // else it may be a library
		at.File = path
	}
	return explainFile(w, at)
}
