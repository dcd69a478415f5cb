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
		return eachPath(args, func(path string) error { return vfs.Mkdir(c.path(path)) })
	},
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
