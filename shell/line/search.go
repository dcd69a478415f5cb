package line

import (
	"strings"
	"unicode/utf8"
)

// search is a ^R in progress: the text to search for in the history, and where it was found.
type search struct {
	text  []byte
	at    int    // index into the history; its length if nothing was found
	saved []byte // the line before
	plain string // the prompt before
}

// startSearch starts a search for a line of the history, by any part of it.
func (e *Editor) startSearch() {
	e.search = &search{at: len(e.History.lines), saved: append([]byte(nil), e.buf...), plain: e.prompt}
	e.showSearch(true)
}

// searchKey handles a key during a search; false: the search has ended, and the key is one for the
// line that was found.
func (e *Editor) searchKey(k key) bool {
	s := e.search
	switch k {
	case keyNone:
	case ctrl('R'):
		e.find(s.at - 1)
	case keyText:
		s.text = append(s.text, e.decoder.text...)
		e.find(min(s.at, len(e.History.lines)-1))
	case ctrl('H'), backspace:
		if len(s.text) > 0 {
			_, n := utf8.DecodeLastRune(s.text)
			s.text = s.text[:len(s.text)-n]
			e.find(len(e.History.lines) - 1)
		}
	case ctrl('G'):
		e.buf = append(e.buf[:0], s.saved...)
		e.endSearch()
	default:
		e.endSearch()
		return false
	}
	return true
}

// find searches backwards for the text from line i of the history.
func (e *Editor) find(i int) {
	for ; i >= 0; i-- {
		if l := e.History.lines[i]; strings.Contains(l, string(e.search.text)) {
			e.search.at = i
			e.buf = append(e.buf[:0], l...)
			e.showSearch(true)
			return
		}
	}
	e.put("\a")
	e.showSearch(false)
}

func (e *Editor) showSearch(found bool) {
	e.prompt = "(reverse-i-search)`" + string(e.search.text) + "': "
	if !found {
		e.prompt = "(failed reverse-i-search)`" + string(e.search.text) + "': "
	}
	e.pos = len(e.buf)
	e.draw()
}

// endSearch shows the line with its own prompt again.
func (e *Editor) endSearch() {
	e.prompt, e.recall = e.search.plain, e.search.at
	e.search = nil
	e.pos = len(e.buf)
	e.draw()
}
