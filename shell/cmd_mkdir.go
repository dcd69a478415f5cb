package shell

import (
	"errors"

	"sonde/kernel/vfs"
)

var mkdirCommand = &Command{
	Name:  "mkdir",
	Usage: "[-p] directory...",
	Help:  "make directories (-p: also those that lead there, unless they are there)",
	Run: func(c *Context, args []string) error {
		opts, paths, err := Options(args, "p")
		if err != nil {
			return err
		}
		return eachPath(paths, func(path string) error {
			if has(opts, 'p') {
				return vfs.MkdirAll(c.path(path), 0755)
			}
			return vfs.Mkdir(c.path(path))
		})
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
