package shell

import (
	"strconv"

	"sonde/kernel/printk"
)

var dmesgCommand = &Command{
	Name:  "dmesg",
	Usage: "[-cC] [-l level] [-n level]",
	Help:  "print the kernel's log (-c: and clear it, -C: clear it, -l: up to a level, -n: set what the console shows)",
	Run:   dmesg,
}

func dmesg(c *Context, args []string) error {
	opts, rest, err := Options(args, "cCl:n:")
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
	if _, only := opts['C']; !only {
		if err := printk.Dmesg(c.Out, max); err != nil {
			return err
		}
	}
	if _, clear := opts['c']; clear || has(opts, 'C') {
		printk.Clear()
	}
	return nil
}

// has reports whether an option was given.
func has(opts map[byte]string, c byte) bool {
	_, ok := opts[c]
	return ok
}

// setConsole takes a number, up to which the console shows nothing, or the
// name of the last level that it shows.
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
