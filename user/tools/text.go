package tools

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"sonde/shell/coreutils"
)

func sort(u *coreutils.IO, args []string) error {
	var all []string
	err := u.Each(args, func(_ string, r io.Reader) error {
		return coreutils.EachLine(r, func(line string) error {
			all = append(all, strings.TrimSuffix(line, "\n")+"\n")
			return nil
		})
	})
	compare := strings.Compare
	if u.Given('n') {
		compare = func(a, b string) int { return cmp.Or(cmp.Compare(leading(a), leading(b)), strings.Compare(a, b)) }
	}
	slices.SortStableFunc(all, func(a, b string) int {
		if u.Given('r') {
			a, b = b, a
		}
		return compare(a, b)
	})
	if u.Given('u') {
		all = slices.Compact(all)
	}
	_, write := io.WriteString(u.Out, strings.Join(all, ""))
	return cmp.Or(err, write)
}

// leading returns the number that text begins with, or 0.
func leading(text string) float64 {
	text = strings.TrimSpace(text)
	end := strings.IndexFunc(text, func(c rune) bool { return !strings.ContainsRune("0123456789.-", c) })
	if end < 0 {
		end = len(text)
	}
	n, _ := strconv.ParseFloat(text[:end], 64)
	return n
}

func uniq(u *coreutils.IO, args []string) error {
	last, n := "", 0
	show := func(w *bufio.Writer) {
		switch {
		case n == 0 || u.Given('d') && n == 1:
		case u.Given('c'):
			fmt.Fprintf(w, "%7d %s\n", n, last)
		default:
			fmt.Fprintln(w, last)
		}
	}
	err := u.Filter(args, func(w *bufio.Writer, _ string, r io.Reader) error {
		return coreutils.EachLine(r, func(line string) error {
			line = strings.TrimSuffix(line, "\n")
			if n > 0 && line != last {
				show(w)
				n = 0
			}
			last = line
			n++
			return nil
		})
	})
	w := bufio.NewWriter(u.Out)
	show(w)
	return cmp.Or(err, w.Flush())
}

func tee(u *coreutils.IO, args []string) error {
	mode := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if u.Given('a') {
		mode = os.O_WRONLY | os.O_CREATE | os.O_APPEND
	}
	to := []io.Writer{u.Out}
	for _, name := range args {
		file, err := os.OpenFile(name, mode, 0o666)
		if err != nil {
			return err
		}
		defer file.Close()
		to = append(to, file)
	}
	_, err := io.Copy(io.MultiWriter(to...), u.In)
	return err
}
