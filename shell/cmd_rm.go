package shell

import (
	"errors"
	"io/fs"

	"sonde/kernel/vfs"
)

var rmCommand = &Command{
	Name:  "rm",
	Usage: "[-f] path...",
	Help:  "remove files and empty directories (-f: do not mind those that are not there)",
	Run: func(c *Context, args []string) error {
		opts, paths, err := Options(args, "f")
		force := has(opts, 'f')
		if err != nil || force && len(paths) == 0 {
			return err
		}
		return eachPath(paths, func(path string) error {
			err := vfs.Remove(c.path(path))
			if force && errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		})
	},
}
