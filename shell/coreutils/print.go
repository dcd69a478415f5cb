package coreutils

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
)

var cat = &Command{
	Name:  "cat",
	Usage: "[file...]",
	Help:  "print files, or the input of a pipe",
	Run:   printFiles,
}

func printFiles(u *IO, args []string) error {
	_, files, err := Options(args, "")
	if err != nil {
		return err
	}
	return u.Each(files, u.copyOut)
}

// copyOut copies r to the output, in pieces, each of which is written before the next is read.
func (u *IO) copyOut(_ string, r io.Reader) error {
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		if n > 0 {
			if _, err := u.Out.Write(buf[:n]); err != nil {
				return err
			}
		}
		if err != nil {
			return notEnd(err)
		}
	}
}

var head = &Command{
	Name:  "head",
	Usage: "[-n lines | -c bytes] [file...]",
	Help:  "print the first lines, or bytes",
	Run: func(u *IO, args []string) error {
		n, bytes, files, err := few(args, "n:c:")
		if err != nil || n == 0 {
			return err
		}
		return u.Filter(files, func(w *bufio.Writer, _ string, r io.Reader) error {
			if bytes {
				_, err := io.CopyN(w, r, n)
				return notEnd(err)
			}
			left := n
			return EachLine(r, func(line string) error {
				w.WriteString(line)
				if left--; left == 0 {
					return io.EOF
				}
				return nil
			})
		})
	},
}

var tail = &Command{
	Name:  "tail",
	Usage: "[-n lines] [file...]",
	Help:  "print the last lines",
	Run: func(u *IO, args []string) error {
		n, _, files, err := few(args, "n:")
		if err != nil {
			return err
		}
		return u.Filter(files, func(w *bufio.Writer, _ string, r io.Reader) error {
			var last []string
			err := EachLine(r, func(line string) error {
				if last = append(last, line); int64(len(last)) > n {
					last = last[1:]
				}
				return nil
			})
			w.WriteString(strings.Join(last, ""))
			return err
		})
	},
}

// few reads "-n 5" or "-5", or "-c 5", which is bytes; 10 lines are the default.
func few(args []string, known string) (n int64, bytes bool, files []string, err error) {
	if len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		if n, err := strconv.ParseUint(args[0][1:], 10, 63); err == nil {
			return int64(n), false, args[1:], nil
		}
	}
	opts, files, err := Options(args, known)
	if err != nil {
		return 0, false, nil, err
	}
	text, what := "10", "lines"
	if v, given := opts['n']; given {
		text = v
	}
	if v, given := opts['c']; given {
		text, what = v, "bytes"
	}
	if n, err = strconv.ParseInt(text, 10, 64); err != nil || n < 0 {
		return 0, false, nil, Usagef("%q is not a number of %s", text, what)
	}
	return n, what == "bytes", files, nil
}

var wc = &Command{
	Name:    "wc",
	Usage:   "[-lwc] [file...]",
	Options: "lwc",
	Help:    "count lines, words and bytes",
	Run: func(u *IO, args []string) error {
		var total counts
		err := u.Each(args, func(name string, r io.Reader) error {
			n, err := count(r)
			if err == nil {
				err = n.print(u.Out, u.Opts, name)
			}
			for i := range total {
				total[i] += n[i]
			}
			return err
		})
		if len(args) > 1 && (err == nil || err == Failed) {
			total.print(u.Out, u.Opts, "total")
		}
		return err
	},
}

// counts are lines, words and bytes.
type counts [3]int

func (n counts) print(w io.Writer, opts Opts, name string) error {
	var parts []string
	for i, n := range n {
		if len(opts) == 0 || opts.Given("lwc"[i]) {
			parts = append(parts, strconv.Itoa(n))
		}
	}
	if name != "-" {
		parts = append(parts, name)
	}
	_, err := fmt.Fprintln(w, strings.Join(parts, " "))
	return err
}

func count(r io.Reader) (n counts, err error) {
	in, word := bufio.NewReader(r), false
	for {
		c, size, err := in.ReadRune()
		if err != nil {
			return n, notEnd(err)
		}
		n[2] += size
		if c == '\n' {
			n[0]++
		}
		space := unicode.IsSpace(c)
		if !space && !word {
			n[1]++
		}
		word = !space
	}
}
