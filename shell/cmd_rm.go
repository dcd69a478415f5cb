package shell

import "sonde/kernel/vfs"

var rmCommand = &Command{
	Name:  "rm",
	Usage: "path...",
	Help:  "remove files and empty directories",
	Run: func(c *Context, args []string) error {
		return eachOperand(args, func(path string) error { return vfs.Remove(c.path(path)) })
	},
}
