package shell

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"sonde/shell/coreutils"
)

var lessCommand = &Command{
	Name:  "less",
	Usage: "[file...]",
	Help:  "page through files or the input of a pipe (keys: space b j k g G, /text n N, q)",
	Run: func(c *Context, args []string) error {
		v := &viewer{keyboard: keyboard{c: c}}
		v.rows, v.columns = c.Shell.screen()
		err := c.io("less").Each(args, func(_ string, r io.Reader) error {
			return coreutils.EachLine(r, func(line string) error {
				v.lines = append(v.lines, line)
				return nil
			})
		})
		if err == nil && c.Shell.typeAhead != nil {
			return v.run()
		}
		for _, line := range v.lines {
			io.WriteString(c.Out, line)
		}
		return err
	},
}

// viewer shows a page of lines, and moves as the keys say.
type viewer struct {
	lines         []string
	rows, columns int
	top           int    // the first line on the screen
	shown         int    // how many lines are on it
	find          string // the last text searched for
	note          string // for the last row
	keyboard
}

// run handles keys until q.
func (v *viewer) run() error {
	defer io.WriteString(v.c.Out, "\r\x1b[K")
	for {
		v.draw()
		key, err := v.key()
		if err != nil || key == 'q' || key == 'Q' {
			return err
		}
		if err := v.obey(key); err != nil {
			return err
		}
	}
}

// obey handles a key.
func (v *viewer) obey(key byte) error {
	switch key {
	case ' ', 'f':
		v.goTo(v.top + v.shown)
	case 'b':
		v.goTo(v.before(v.top))
	case '\r', '\n', 'j', 'e':
		v.goTo(v.top + 1)
	case 'k', 'y':
		v.goTo(v.top - 1)
	case 'g', '<':
		v.goTo(0)
	case 'G', '>':
		v.goTo(len(v.lines))
	case '/':
		if err := v.ask(); err != nil {
			return err
		}
		v.look(v.top+1, 1)
	case 'n':
		v.look(v.top+1, 1)
	case 'N':
		v.look(v.top-1, -1)
	}
	return nil
}

// goTo makes a line the first on the screen, or the nearest one with which the screen is full.
func (v *viewer) goTo(line int) { v.top = max(0, min(line, v.before(len(v.lines)))) }

// before returns the first line of the page that ends before a line.
func (v *viewer) before(end int) int {
	left := v.rows - 1
	for end > 0 {
		if left -= v.height(v.lines[end-1]); left < 0 {
			break
		}
		end--
	}
	return end
}

// look goes to the next line from there on that contains the text, in steps of 1 or -1.
func (v *viewer) look(from, step int) {
	for i := from; v.find != "" && i >= 0 && i < len(v.lines); i += step {
		if strings.Contains(v.lines[i], v.find) {
			v.top = i // even if the screen is not full then, as in less
			return
		}
	}
	v.note = "no more lines with " + v.find
}

// text is a line as it is shown: without tabs and control characters.
func text(line string) string {
	var b strings.Builder
	for _, r := range strings.TrimRight(line, "\r\n") {
		switch {
		case r == '\t':
			b.WriteString("        "[utf8.RuneCountInString(b.String())%8:])
		case r < ' ' || r == 0x7f:
			b.WriteByte('?')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// height is how many rows a line takes.
func (v *viewer) height(line string) int {
	return max(1, (utf8.RuneCountInString(text(line))+v.columns-1)/v.columns)
}

// draw shows the page, and below it a colon, or the note.
func (v *viewer) draw() {
	var b strings.Builder
	b.WriteString("\x1b[H\x1b[2J")
	left := v.rows - 1
	for v.shown = 0; v.top+v.shown < len(v.lines); v.shown++ {
		line := v.lines[v.top+v.shown]
		if left -= v.height(line); left < 0 && v.shown > 0 {
			break
		}
		b.WriteString(text(line) + "\n")
	}
	if v.note == "" && v.top+v.shown == len(v.lines) {
		v.note = "(END)"
	}
	fmt.Fprintf(&b, "\x1b[7m%s\x1b[m", v.note+":")
	v.note = ""
	io.WriteString(v.c.Out, b.String())
}

// ask reads the text to search for, up to enter; empty means the previous one.
func (v *viewer) ask() error {
	find := ""
	for {
		fmt.Fprintf(v.c.Out, "\r\x1b[K/%s", find)
		switch key, err := v.key(); {
		case err != nil:
			return err
		case key == '\r' || key == '\n':
			if find != "" {
				v.find = find
			}
			return nil
		case key == 0x7f || key == '\b':
			_, n := utf8.DecodeLastRuneInString(find)
			find = find[:len(find)-n]
		case key >= ' ': // characters of several bytes come one by one
			find += string([]byte{key})
		}
	}
}

// sequences are keys that send several bytes, and the keys that mean the same.
var sequences = map[string]byte{
	"\x1b[A": 'k', "\x1b[B": 'j', "\x1b[5~": 'b', "\x1b[6~": ' ', "\x1b[H": 'g', "\x1b[F": 'G', "\x1b[1~": 'g', "\x1b[4~": 'G',
}

// keyboard is the keys that are typed while a command runs.
type keyboard struct {
	c     *Context
	typed []byte // and not handled yet
}

// key waits for a key. Errors: ^C has been typed.
func (k *keyboard) key() (byte, error) {
	for {
		if len(k.typed) > 0 {
			for s, key := range sequences {
				if rest, ok := strings.CutPrefix(string(k.typed), s); ok {
					k.typed = []byte(rest)
					return key, nil
				}
			}
			key := k.typed[0]
			k.typed = k.typed[1:]
			return key, nil
		}
		k.typed = append(k.typed, k.c.Shell.typeAhead()...)
		if len(k.typed) > 0 {
			continue
		}
		select {
		case <-k.c.Interrupt:
			return 0, Status(statusInterrupted)
		case <-time.After(20 * time.Millisecond):
		}
	}
}
