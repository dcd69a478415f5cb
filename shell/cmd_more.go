package shell

import (
	"io"
	"strings"
	"unicode/utf8"

	"sonde/shell/coreutils"
)

var moreCommand = &Command{
	Name:  "more",
	Usage: "[file...]",
	Help:  "print files or the input of a pipe page by page (space: next page, enter: next line, q: quit)",
	Run: func(c *Context, args []string) error {
		p := &pager{keyboard: keyboard{c: c}}
		p.rows, p.columns = c.Shell.screen()
		p.left = p.rows - 1
		return c.io("more").Each(args, func(_ string, r io.Reader) error {
			if p.over {
				return nil
			}
			return coreutils.EachLine(r, p.show)
		})
	},
}

// pager shows lines until the screen is full, and then waits for a key. Without a terminal, as in a
// script, it does not wait.
type pager struct {
	keyboard
	rows, columns int
	left          int // rows until it waits
	over          bool
}

// show prints a line. Errors: io.EOF after q.
func (p *pager) show(line string) error {
	n := max(1, (utf8.RuneCountInString(strings.TrimRight(line, "\n"))+p.columns-1)/p.columns)
	if p.left < n && p.c.Shell.typeAhead != nil {
		if err := p.ask(); err != nil {
			return err
		}
	}
	p.left -= n
	_, err := io.WriteString(p.c.Out, line)
	return err
}

// ask waits for a key.
func (p *pager) ask() error {
	io.WriteString(p.c.Out, "\x1b[7m--More--\x1b[m")
	defer io.WriteString(p.c.Out, "\r\x1b[K")
	for {
		switch key, err := p.key(); {
		case err != nil:
			return err
		case key == ' ' || key == 'f':
			p.left = p.rows - 1
			return nil
		case key == '\r' || key == '\n' || key == 'j':
			p.left = max(p.left, 0) + 1
			return nil
		case key == 'q' || key == 'Q':
			p.over = true
			return io.EOF
		}
	}
}
