package shell

import (
	"encoding/hex"
	"io"
	"strconv"

	"sonde/shell/coreutils"
)

var hexdumpCommand = &Command{
	Name:  "hexdump",
	Usage: "[-C] [-n bytes] [-s skip] [file...]",
	Help:  "print bytes in hexadecimal and as characters (-n: at most so many, -s: skip so many)",
	Run:   hexdump,
}

func hexdump(c *Context, args []string) error {
	opts, files, err := coreutils.Options(args, "Cn:s:")
	if err != nil {
		return err
	}
	number := func(opt byte, none int64) int64 {
		text, ok := opts[opt]
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
	return c.io("hexdump").Each(files, func(_ string, r io.Reader) error {
		if _, err := io.Copy(io.Discard, io.LimitReader(r, skip)); err != nil {
			return err
		}
		d := hex.Dumper(c.Out)
		_, err := io.Copy(d, io.LimitReader(r, most))
		d.Close()
		return err
	})
}
