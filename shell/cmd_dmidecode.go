package shell

import (
	"fmt"
	"strconv"
)

var dmidecodeCommand = &Command{
	Name:    "dmidecode",
	Usage:   "[-s KEYWORD | -t TYPE]",
	Options: "s:t:",
	Help:    "print the firmware's description of the board (-s: one string, such as system-product-name; -t: structures of a type)",
	Run:     dmidecode,
}

func dmidecode(c *Context, args []string) (err error) {
	if len(args) > 0 || len(c.Opts) > 1 {
		return Usagef("give one option with its value, or none")
	}
	if c.Machine.Firmware == nil || c.Machine.Firmware.DMI == nil {
		return missing("DMI tables")
	}
	dmi := c.Machine.Firmware.DMI
	if word, ok := c.Opts['s']; ok {
		value, known := dmi.Keyword(word)
		if !known {
			return Usagef("%q is not a keyword", word)
		}
		_, err := fmt.Fprintln(c.Out, value)
		return err
	}
	typ := -1
	if text, ok := c.Opts['t']; ok {
		if typ, err = strconv.Atoi(text); err != nil || typ < 0 || typ > 255 {
			return Usagef("%q is not a type from 0 to 255", text)
		}
	}
	return dmi.Print(c.Out, typ)
}
