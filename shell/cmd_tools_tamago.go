//go:build tamago && !noprobe

package shell

import (
	"strconv"

	"sonde/kprobes"
	"sonde/shell/coreutils"
	"sonde/tools"
)

func init() {
	for _, t := range tools.All() {
		builtins = append(builtins, toolCommand(t))
	}
}

// toolCommand is the command that runs a tool.
func toolCommand(t tools.Tool) *Command {
	usage := "[-dv] [-f FILTER] [-i SECONDS] [-c COMMAND] [-p PID]"
	if t.Usage != "" {
		usage += " " + t.Usage
	}
	return &Command{Name: t.Name, Usage: usage, Help: t.Help, Run: func(c *Context, args []string) error { return runTool(c, t, args) }}
}

func runTool(c *Context, t tools.Tool, args []string) error {
	opts, args, err := coreutils.Options(args, "dvf:i:c:p:")
	if err != nil {
		return err
	}
	seconds := 0
	if text, ok := opts['i']; ok {
		if seconds, err = strconv.Atoi(text); err != nil || seconds < 1 || seconds > 3600 {
			return Usagef("%q is not an interval: give 1 to 3600 seconds", text)
		}
	}
	script, err := t.Script(args, opts['f'], seconds)
	if err != nil {
		return Usagef("%v", err)
	}
	bt := []string{"-q", "-e", script}
	for _, o := range "dv" {
		if coreutils.Given(opts, byte(o)) {
			bt = append(bt, "-"+string(o))
		}
	}
	for _, o := range "cp" {
		if value, ok := opts[byte(o)]; ok {
			bt = append(bt, "-"+string(o), value)
		}
	}
	return runScript(c, bt, kprobes.AwaitJumps)
}
