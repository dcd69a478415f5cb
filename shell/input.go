package shell

import (
	"bufio"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"

	"sonde/kernel/refusal"
	"sonde/kernel/vfs"
)

// eachReader calls f with each file, or with the input if there are none. The name is empty unless
// there are several files. ^C ends the reading.
func eachReader(c *Context, paths []string, f func(name string, r io.Reader) error) error {
	if len(paths) == 0 {
		return f("", &interruptible{c, c.In})
	}
	var errs []error
	for _, path := range paths {
		file, err := vfs.Open(c.path(path), os.O_RDONLY)
		if err == nil {
			name := path
			if len(paths) == 1 {
				name = ""
			}
			err = f(name, &interruptible{c, file})
			vfs.Close(file)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// eachInput calls f with the contents of each file, in the same way.
func eachInput(c *Context, paths []string, f func(name, text string) error) error {
	return eachReader(c, paths, func(name string, r io.Reader) error {
		var b strings.Builder
		if _, err := io.Copy(&b, r); err != nil {
			return err
		}
		return f(name, b.String())
	})
}

// readUpTo reads a file, but no more than so many bytes: what its size is, it may not say, and it may have no end.
func readUpTo(path string, most int64) ([]byte, error) {
	f, err := vfs.Open(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer vfs.Close(f)
	return io.ReadAll(io.LimitReader(f, most))
}

// readWhole is readUpTo for a file that may have as many bytes.
//
// Errors: EFBIG it has more.
func readWhole(path string, most int64) ([]byte, error) {
	b, err := readUpTo(path, most+1)
	if err == nil && int64(len(b)) > most {
		return nil, refusal.New(syscall.EFBIG, "%s has more than %d bytes", path, most)
	}
	return b, err
}

// eachLine calls f with each line as soon as it is complete, until f returns an error.
func eachLine(r io.Reader, f func(line string) error) error {
	for b := bufio.NewReader(r); ; {
		line, err := b.ReadString('\n')
		if line != "" {
			if err := f(line); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// interruptible is a reader that ^C ends.
type interruptible struct {
	c *Context
	r io.Reader
}

// Read implements io.Reader.
func (i *interruptible) Read(p []byte) (int, error) {
	if i.c.Interrupted() {
		return 0, Status(statusInterrupted)
	}
	return i.r.Read(p)
}
