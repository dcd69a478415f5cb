package shell

import (
	"encoding/hex"
	"io"
	"strconv"
)

var hexdumpCommand = &Command{
	Name:    "hexdump",
	Usage:   "[-C] [-n bytes] [-s skip] [file...]",
	Options: "Cn:s:",
	Help:    "print bytes in hexadecimal and as characters (-n: at most so many, -s: skip so many)",
	Run:     hexdump,
}

func hexdump(c *Context, args []string) (err error) {
	number := func(opt byte, none int64) int64 {
		text, ok := c.Opts[opt]
		if !ok {
			return none
		}
		n, perr := strconv.ParseInt(text, 0, 63)
		if perr != nil || n < 0 {
			err = Usagef("%q is not a number of bytes", text)
		}
		return n
	}
	most, skip := number('n', 1<<62), number('s', 0)
	if err != nil {
		return err
	}
	return c.io("hexdump").Each(args, func(_ string, r io.Reader) error {
		if err := skipTo(r, skip); err != nil {
			return err
		}
		d := hex.Dumper(c.Out)
		_, err := io.Copy(d, io.LimitReader(r, most))
		d.Close()
		return err
	})
}

// skipTo moves r on by n bytes: it seeks, as not all files can be read from their beginning, or reads where one cannot.
func skipTo(r io.Reader, n int64) error {
	if s, ok := r.(io.Seeker); ok {
		if _, err := s.Seek(n, io.SeekStart); err == nil {
			return nil
		}
	}
	_, err := io.Copy(io.Discard, io.LimitReader(r, n))
	return err
}
