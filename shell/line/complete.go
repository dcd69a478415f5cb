package line

import (
	"strings"
	"unicode/utf8"
)

// maxListed is how many candidates are listed.
const maxListed = 100

// complete extends the line as far as the candidates agree. If they differ after that, a second TAB
// lists them.
func (e *Editor) complete() {
	if e.Complete == nil {
		return
	}
	start, list := e.Complete(string(e.buf), e.pos)
	if len(list) == 0 || start > e.pos {
		e.put("\a")
		return
	}
	typed := string(e.buf[start:e.pos])
	whole := list[0]
	for _, c := range list[1:] {
		whole = commonPrefix(whole, c)
	}
	if len(list) == 1 && !strings.HasSuffix(whole, "/") && !strings.HasSuffix(whole, "=") {
		whole += " "
	}
	switch {
	case strings.HasPrefix(whole, typed) && len(whole) > len(typed):
		e.insert([]byte(whole[len(typed):]))
		e.tabs = 0
	case len(list) > 1 && e.tabs > 1:
		e.list(list)
	default:
		e.put("\a")
	}
}

// list shows the candidates below the line, and then the line again.
func (e *Editor) list(all []string) {
	pos := e.pos
	e.place(len(e.buf))
	e.put("\n")
	shown := all
	if len(shown) > maxListed {
		shown = shown[:maxListed]
	}
	width := 0
	for _, c := range shown {
		width = max(width, len(c)+2)
	}
	perRow := max(1, e.Columns/width)
	for i, c := range shown {
		e.put(c)
		if (i+1)%perRow == 0 || i == len(shown)-1 {
			e.put("\n")
		} else {
			e.put(strings.Repeat(" ", width-len(c)))
		}
	}
	if len(all) > len(shown) {
		e.put("... more\n")
	}
	e.row, e.pos = 0, pos
	e.draw()
}

func commonPrefix(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for n < len(a) && n > 0 && !utf8.RuneStart(a[n]) { // they differ within a character
		n--
	}
	return a[:n]
}
