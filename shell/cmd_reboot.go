package shell

var rebootCommand = &Command{
	Name: "reboot",
	Help: "restart the machine",
	Run: func(c *Context, args []string) error {
		return c.Machine.stop("reboot", c.Machine.Reboot, args)
	},
}
