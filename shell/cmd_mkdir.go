package shell

import (
	"errors"

	"sonde/kernel/vfs"
)

var mkdirCommand = &Command{
	Name:  "mkdir",
	Usage: "directory...",
	Help:  "make directories",
	Run: func(c *Context, args []string) error {
		return eachOperand(args, func(path string) error { return vfs.Mkdir(c.path(path)) })
	},
}

// eachOperand is eachPath for a command that has no options: a path that begins with "-" stands after "--".
func eachOperand(args []string, f func(string) error) error {
	_, paths, err := Options(args, "")
	if err != nil {
		return err
	}
	return eachPath(paths, f)
}

// eachPath calls f with each path, also after an error.
func eachPath(paths []string, f func(string) error) error {
	if len(paths) == 0 {
		return Usagef("no path given")
	}
	var errs []error
	for _, path := range paths {
		errs = append(errs, f(path))
	}
	return errors.Join(errs...)
}
