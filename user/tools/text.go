package tools

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Wc counts lines, words and bytes.
func Wc(s Streams, args []string) error {
	f := Flags(s, "wc")
	l, w, c := f.Bool("l", false, "count lines"), f.Bool("w", false, "count words"), f.Bool("c", false, "count bytes")
	if err := Parse(f, args); err != nil {
		return err
	}
	if !*l && !*w && !*c {
		*l, *w, *c = true, true, true
	}
	show := func(n counts, name string) {
		var text []string
		for i, on := range []bool{*l, *w, *c} {
			if on {
				text = append(text, strconv.Itoa(n[i]))
			}
		}
		if name != "-" {
			text = append(text, name)
		}
		fmt.Fprintln(s.Out, strings.Join(text, " "))
	}
	var total counts
	err := each(s, "wc", f.Args(), func(in input) error {
		n, err := count(in)
		for i := range total {
			total[i] += n[i]
		}
		show(n, in.name)
		return err
	})
	if f.NArg() > 1 {
		show(total, "total")
	}
	return err
}

// counts are lines, words and bytes.
type counts [3]int

func count(r io.Reader) (n counts, err error) {
	in, word := bufio.NewReader(r), false
	for {
		c, size, err := in.ReadRune()
		if err != nil {
			return n, ended(err)
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

// Sort sorts lines.
func Sort(s Streams, args []string) error {
	f := Flags(s, "sort")
	number, reverse, unique := f.Bool("n", false, "sort by the number that begins a line"), f.Bool("r", false, "sort in reverse order"), f.Bool("u", false, "print equal lines once")
	if err := Parse(f, args); err != nil {
		return err
	}
	var all []string
	err := each(s, "sort", f.Args(), func(in input) error {
		return lines(in, func(line, _ string) bool { all = append(all, line); return true })
	})
	compare := func(a, b string) int {
		if *number {
			if x, y := leading(a), leading(b); x != y {
				return map[bool]int{true: -1, false: 1}[x < y]
			}
		}
		return strings.Compare(a, b)
	}
	slices.SortStableFunc(all, func(a, b string) int {
		if *reverse {
			a, b = b, a
		}
		return compare(a, b)
	})
	if *unique {
		all = slices.Compact(all)
	}
	write := buffered(s.Out, func(w *bufio.Writer) error {
		for _, line := range all {
			w.WriteString(line + "\n")
		}
		return nil
	})
	if err == nil {
		err = write
	}
	return err
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

// Uniq prints lines once that are repeated one after the other.
func Uniq(s Streams, args []string) error {
	f := Flags(s, "uniq")
	number, double := f.Bool("c", false, "print how often each line occurs"), f.Bool("d", false, "print only lines that occur more than once")
	if err := Parse(f, args); err != nil {
		return err
	}
	return buffered(s.Out, func(w *bufio.Writer) error {
		last, n := "", 0
		show := func() {
			switch {
			case n == 0 || *double && n == 1:
			case *number:
				fmt.Fprintf(w, "%7d %s\n", n, last)
			default:
				fmt.Fprintln(w, last)
			}
		}
		err := each(s, "uniq", f.Args(), func(in input) error {
			return lines(in, func(line, _ string) bool {
				if n > 0 && line != last {
					show()
					n = 0
				}
				last = line
				n++
				return true
			})
		})
		show()
		return err
	})
}

// Tee copies its input to its output and to files.
func Tee(s Streams, args []string) error {
	f := Flags(s, "tee")
	add := f.Bool("a", false, "append to the files")
	if err := Parse(f, args); err != nil {
		return err
	}
	mode := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if *add {
		mode = os.O_WRONLY | os.O_CREATE | os.O_APPEND
	}
	to := []io.Writer{s.Out}
	for _, name := range f.Args() {
		file, err := os.OpenFile(name, mode, 0o666)
		if err != nil {
			return err
		}
		defer file.Close()
		to = append(to, file)
	}
	_, err := io.Copy(io.MultiWriter(to...), s.In)
	return err
}
