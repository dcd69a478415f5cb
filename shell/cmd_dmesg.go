package shell

import (
	"strconv"
	"time"

	"sonde/kernel/printk"
	"sonde/shell/coreutils"
)

var dmesgCommand = &Command{
	Name:  "dmesg",
	Usage: "[-cCpw] [-l level] [-n level]",
	Help:  "print the kernel's log (-c: then clear it, -C: only clear it, -p: the log of the previous boot, -w: wait for more until ^C, -l: up to a level, -n: set the console's level)",
	Run:   dmesg,
}

func dmesg(c *Context, args []string) error {
	opts, rest, err := coreutils.Options(args, "cCpwl:n:")
	if err != nil {
		return err
	}
	if err := noArgs(rest); err != nil {
		return err
	}
	if text, ok := opts['n']; ok {
		return setConsole(text)
	}
	max := printk.LevelDebug
	if text, ok := opts['l']; ok {
		if max, err = printk.ParseLevel(text); err != nil {
			return err
		}
	}
	if coreutils.Given(opts, 'p') {
		return printk.DmesgBefore(c.Out, max)
	}
	if coreutils.Given(opts, 'w') {
		return followLog(c, max)
	}
	if _, only := opts['C']; !only {
		if err := printk.Dmesg(c.Out, max); err != nil {
			return err
		}
	}
	if _, clear := opts['c']; clear || coreutils.Given(opts, 'C') {
		printk.Clear()
	}
	return nil
}

// setConsole takes a number, below which levels are shown on the console, or the name of the last
// level that is shown.
func setConsole(text string) error {
	if n, err := strconv.Atoi(text); err == nil {
		return printk.SetConsoleLevel(n)
	}
	level, err := printk.ParseLevel(text)
	if err != nil {
		return err
	}
	return printk.SetConsoleLevel(int(level) + 1)
}

// followLog prints the log and then new records, until ^C.
func followLog(c *Context, max printk.Level) error {
	if c.Interrupt == nil {
		return Usagef("-w needs a terminal, where ^C can be typed")
	}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for next := uint64(0); ; {
		var err error
		if next, err = printk.DmesgFrom(c.Out, max, next); err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-c.Interrupt:
			return Status(statusInterrupted)
		}
	}
}
