package shell

import (
	"errors"
	"io"
	"os"

	"sonde/kernel/vfs"
)

var catCommand = &Command{
	Name:  "cat",
	Usage: "[file...]",
	Help:  "print files, or the input of a pipe",
	Run:   cat,
}

func cat(c *Context, args []string) error {
	if len(args) == 0 {
		return copyOut(c, c.In)
	}
	var errs []error
	for _, path := range args {
		errs = append(errs, catFile(c, path))
	}
	return errors.Join(errs...)
}

func catFile(c *Context, path string) error {
	if path == "-" {
		return copyOut(c, c.In)
	}
	f, err := vfs.Open(c.path(path), os.O_RDONLY)
	if err != nil {
		return err
	}
	defer vfs.Close(f)
	return copyOut(c, f)
}

// copyOut copies r to the output until its end or ^C. It reads a file by vfs.Read, in pieces.
func copyOut(c *Context, r io.Reader) error {
	buf := make([]byte, 4096)
	for !c.Interrupted() {
		n, err := r.Read(buf)
		if n > 0 {
			if _, werr := c.Out.Write(buf[:n]); werr != nil {
				return werr
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return Status(statusInterrupted)
}
