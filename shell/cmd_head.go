package shell

import (
	"io"
	"strconv"
	"strings"
)

var headCommand = &Command{
	Name:  "head",
	Usage: "[-n lines | -c bytes] [file...]",
	Help:  "print the first lines, or bytes",
	Run: func(c *Context, args []string) error {
		if len(args) > 0 && strings.HasPrefix(args[0], "-c") {
			return headBytes(c, args)
		}
		n, files, err := lineCount(args)
		if err != nil || n == 0 {
			return err
		}
		return eachReader(c, files, func(_ string, r io.Reader) error {
			left := n
			err := eachLine(r, func(line string) error {
				if _, err := io.WriteString(c.Out, line); err != nil {
					return err
				}
				if left--; left == 0 {
					return io.EOF
				}
				return nil
			})
			if err == io.EOF {
				return nil
			}
			return err
		})
	},
}

// headBytes prints the first bytes.
func headBytes(c *Context, args []string) error {
	opts, files, err := Options(args, "c:")
	if err != nil {
		return err
	}
	n, err := strconv.ParseInt(opts['c'], 10, 64)
	if err != nil || n < 0 {
		return Usagef("%q is not a number of bytes", opts['c'])
	}
	return eachReader(c, files, func(_ string, r io.Reader) error {
		_, err := io.CopyN(c.Out, r, n)
		if err == io.EOF {
			return nil
		}
		return err
	})
}

// lineCount reads "-n 5" or "-5"; 10 is the default.
func lineCount(args []string) (n int, files []string, err error) {
	if len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		if n, err := strconv.Atoi(args[0][1:]); err == nil && n >= 0 {
			return n, args[1:], nil
		}
	}
	opts, files, err := Options(args, "n:")
	if err != nil {
		return 0, nil, err
	}
	text, given := opts['n']
	if !given {
		return 10, files, nil
	}
	if n, err = strconv.Atoi(text); err != nil || n < 0 {
		return 0, nil, Usagef("%q is not a number of lines", text)
	}
	return n, files, nil
}
