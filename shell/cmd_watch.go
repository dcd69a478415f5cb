package shell

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

var watchCommand = &Command{
	Name:    "watch",
	Usage:   "[-n seconds] [-c count] command... | 'script'",
	Options: "+n:c:",
	Help:    "run a command every 2 seconds on a cleared screen, until ^C or count times",
	Run:     runWatch,
}

func runWatch(c *Context, args []string) (err error) {
	every, count := 2.0, 0
	if text, ok := c.Opts['n']; ok {
		if every, err = strconv.ParseFloat(text, 64); err != nil || !(every >= 0.1 && every < 1e6) {
			return Usagef("%q is not a number of seconds, at least 0.1", text)
		}
	}
	if text, ok := c.Opts['c']; ok {
		if count, err = strconv.Atoi(text); err != nil || count < 1 {
			return Usagef("%q is not a count", text)
		}
	}
	switch {
	case len(args) == 0:
		return Usagef("give a command")
	case c.Interrupt == nil && count == 0:
		return Usagef("give -c COUNT: without a terminal, nobody can type ^C")
	}
	what := scriptOf(args)
	tick := time.NewTicker(time.Duration(every * float64(time.Second)))
	defer tick.Stop()
	for i := 1; ; i++ {
		if err := c.watchOnce(what, strings.Join(args, " "), every); err != nil || i == count {
			return err
		}
		select {
		case <-tick.C:
		case <-c.Interrupt:
			return Status(statusInterrupted)
		}
	}
}

// watchOnce shows the screen once: as much as fits, in one write.
func (c *Context) watchOnce(what, name string, every float64) error {
	s := c.again()
	var out bytes.Buffer
	s.Out, s.Err = &out, &out
	s.Run(what)
	rows, columns := c.Shell.screen()
	lines := []string{fmt.Sprintf("Every %.1fs: %s", every, name), ""}
	lines = append(lines, strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")...)
	var b strings.Builder
	for _, line := range lines[:min(len(lines), rows-1)] {
		b.WriteString(cutTo(text(line), columns) + "\n")
	}
	_, err := io.WriteString(c.Out, "\x1b[H\x1b[2J"+b.String())
	return err
}

// cutTo returns the first n characters of a line.
func cutTo(line string, n int) string {
	if r := []rune(line); len(r) > n {
		return string(r[:n])
	}
	return line
}
