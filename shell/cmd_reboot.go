package shell

var rebootCommand = &Command{
	Name: "reboot",
	Help: "restart the machine",
	Run:  func(c *Context, _ []string) error { return stop("reboot", c.Machine.Reboot) }, Alone: true,
}
