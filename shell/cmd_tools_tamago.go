//go:build tamago && !noprobe

package shell

import (
	"strconv"

	"sonde/tools"
)

func init() {
	for _, t := range tools.All() {
		builtins = append(builtins, toolCommand(t))
	}
}

// toolCommand is the command that runs a tool.
func toolCommand(t tools.Tool) *Command {
	usage := "[-dvS] [-f FILTER] [-i SECONDS] [-c COMMAND] [-p PID]"
	if t.Usage != "" {
		usage += " " + t.Usage
	}
	return &Command{Name: t.Name, Usage: usage, Help: t.Help, Options: "dvSf:i:c:p:", Run: func(c *Context, args []string) error { return runTool(c, t, args) }}
}

func runTool(c *Context, t tools.Tool, args []string) error {
	seconds, err := 0, error(nil)
	if text, ok := c.Opts['i']; ok {
		if seconds, err = strconv.Atoi(text); err != nil || seconds < 1 || seconds > 3600 {
			return Usagef("%q is not an interval: give 1 to 3600 seconds", text)
		}
	}
	if t.Name == "trace" {
		if args, err = withCallees(c, args); err != nil {
			return err
		}
	}
	script, err := t.Script(args, c.Opts['f'], seconds)
	if err != nil {
		return Usagef("%v", err)
	}
	bt := []string{"-q", "-e", script}
	if c.Given('S') {
		bt = append(bt, "--self")
	}
	for _, o := range "dv" {
		if c.Given(byte(o)) {
			bt = append(bt, "-"+string(o))
		}
	}
	for _, o := range "cp" {
		if value, ok := c.Opts[byte(o)]; ok {
			bt = append(bt, "-"+string(o), value)
		}
	}
	return runScript(c, bt, true)
}
