package shell

var poweroffCommand = &Command{
	Name: "poweroff",
	Help: "turn the machine off",
	Run:  func(c *Context, _ []string) error { return stop("poweroff", c.Machine.Poweroff) }, Alone: true,
}

// stop calls do, which ends the machine.
func stop(what string, do func() error) error {
	if do == nil {
		return missing(what)
	}
	return do()
}
