package shell

var poweroffCommand = &Command{
	Name: "poweroff",
	Help: "turn the machine off",
	Run: func(c *Context, args []string) error {
		return c.Machine.stop("poweroff", c.Machine.Poweroff, args)
	},
}

// stop calls do, which ends the machine.
func (m *Machine) stop(what string, do func() error, args []string) error {
	if err := noArgs(args); err != nil {
		return err
	}
	if do == nil {
		return missing(what)
	}
	return do()
}
