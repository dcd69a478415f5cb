package shell

import (
	"io"
	"strconv"
	"time"

	"sonde/kernel/printk"
)

var dmesgCommand = &Command{
	Name:    "dmesg",
	Usage:   "[-cCpwW] [-l level] [-n level]",
	Options: "cCpwWl:n:", Alone: true,
	Help: "print the kernel's log (-c: then clear it, -C: only clear it, -p: the log of the previous boot, -w: wait for more until ^C, -W: only wait for more, -l: up to a level, -n: set the console's level)",
	Run:  dmesg,
}

func dmesg(c *Context, args []string) (err error) {
	if text, ok := c.Opts['n']; ok {
		return setConsole(text)
	}
	max := printk.LevelDebug
	if text, ok := c.Opts['l']; ok {
		if max, err = printk.ParseLevel(text); err != nil {
			return err
		}
	}
	if c.Given('p') {
		return printk.DmesgBefore(c.Out, max)
	}
	if c.Given('w') || c.Given('W') {
		return followLog(c, max)
	}
	if _, only := c.Opts['C']; !only {
		if err := printk.Dmesg(c.Out, max); err != nil {
			return err
		}
	}
	if _, clear := c.Opts['c']; clear || c.Given('C') {
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

// followLog prints the log, but for -W, and then new records, until ^C.
func followLog(c *Context, max printk.Level) (err error) {
	if c.Interrupt == nil {
		return Usagef("-w and -W need a terminal, where ^C can be typed")
	}
	next := uint64(0)
	if c.Given('W') {
		if next, err = printk.DmesgFrom(io.Discard, max, 0); err != nil {
			return err
		}
	}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
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
