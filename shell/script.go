package shell

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync/atomic"

	"mvdan.cc/sh/v3/syntax"
)

// What scripts may take of the kernel's memory. A tree takes about a hundred times as many bytes as
// its text, and a level of nesting some kilobytes of stack.
const (
	maxScript  = 128 << 10 // bytes of one script
	maxParsed  = 256 << 10 // bytes of all scripts that run
	maxFrames  = 2000      // of the parser's stack
	maxNesting = 2000      // statements within statements: functions, loops, eval
)

var errNested = errors.New("commands are nested too deeply")

// parsed is how many bytes of scripts are held as trees, by all shells.
var parsed atomic.Int64

// script is a text that has been parsed.
type script struct {
	list []*syntax.Stmt
	text string // as it was parsed
}

// parse reads a script. The caller must call forget when it has run. Names of methods, such as
// vfs.(*File).Read, need no quotes, though they are no words of the language.
//
// Errors: with the line and what is wrong. incomplete means that more lines could make it right.
func parse(text string) (s script, incomplete bool, err error) {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	if len(text) > maxScript {
		return s, false, fmt.Errorf("the script has %d bytes, more than %d", len(text), maxScript)
	}
	size := int64(len(text))
	if parsed.Add(size) > maxParsed {
		parsed.Add(-size)
		return s, false, fmt.Errorf("the scripts that run have more than %d bytes", maxParsed)
	}
	for range maxMethods {
		s, err = tree(text)
		if quoted, ok := quoteMethod(text, err); ok {
			text = quoted
			continue
		}
		break
	}
	parsed.Add(int64(len(s.text)) - size)
	if err != nil {
		return s, syntax.IsIncomplete(err) || strings.Contains(err.Error(), "unclosed here-document"), syntaxError(err, text)
	}
	return s, false, nil
}

// tree parses a text.
func tree(text string) (s script, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the parser panicked: %v", r)
		}
	}()
	f, err := syntax.NewParser().Parse(&scriptReader{text: text}, "")
	if err != nil {
		return s, err
	}
	return script{f.Stmts, text}, nil
}

// maxMethods is how many names of methods a script may have without quotes.
const maxMethods = 100

// quoteMethod quotes the parentheses of .(*T), where the parser did not expect them.
func quoteMethod(text string, err error) (string, bool) {
	var pe syntax.ParseError
	if !errors.As(err, &pe) {
		return "", false
	}
	at := int(pe.Pos.Offset())
	if at < 1 || at >= len(text) || !strings.HasPrefix(text[at-1:], ".(*") {
		return "", false
	}
	inner, rest, ok := strings.Cut(text[at+1:], ")")
	if !ok || strings.ContainsAny(inner, " \t\n'\"\\$`;|&<>(") {
		return "", false
	}
	return text[:at] + "'(" + inner + ")'" + rest, true
}

// forget gives back what the script took.
func (s script) forget() { parsed.Add(-int64(len(s.text))) }

// scriptReader is the text for the parser, which reads it in pieces. It ends the reading of a script that
// is nested so deeply that the parser, which is recursive, would take too much stack. It implements io.Reader.
type scriptReader struct{ text string }

func (s *scriptReader) Read(p []byte) (int, error) {
	if deep(maxFrames) {
		return 0, errNested
	}
	if s.text == "" {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), 256)], s.text)
	s.text = s.text[n:]
	return n, nil
}

// deep reports whether the caller has more than n callers.
func deep(n int) bool {
	var pc [1]uintptr
	return runtime.Callers(n, pc[:]) > 0
}

// syntaxError puts the parser's error in a text into our words.
func syntaxError(err error, text string) error {
	var pe syntax.ParseError
	var le syntax.LangError
	switch {
	case errors.As(err, &pe):
		return fmt.Errorf("line %d: %s%s", pe.Pos.Line(), pe.Text, quotesMissing(text, int(pe.Pos.Line())))
	case errors.As(err, &le):
		return fmt.Errorf("line %d: %s is not supported", le.Pos.Line(), le.Feature)
	}
	return err
}

// textOf is a statement as it was typed.
func (s *Shell) textOf(st *syntax.Stmt) string {
	from, to := int(st.Pos().Offset()), int(st.End().Offset())
	if st.Semicolon.IsValid() {
		to = int(st.Semicolon.Offset())
	}
	if from > to || to > len(s.source) {
		return "script"
	}
	return strings.TrimSpace(s.source[from:to])
}

// incomplete reports whether further lines could end what a text begins.
func incomplete(text string) bool {
	s, more, _ := parse(text)
	s.forget()
	return more
}

// quotesMissing is a hint for a line that has a script of bt without quotes.
func quotesMissing(text string, line int) string {
	lines := strings.Split(text, "\n")
	words := strings.Fields(lines[min(line, len(lines))-1])
	if len(words) < 2 || words[0] != "bt" && words[0] != "bpftrace" || !strings.Contains(strings.Join(words, " "), "{") {
		return ""
	}
	return "; quotes around the script of bt may be missing: bt -e 'kprobe:vfs.Read { @ = count(); }'"
}
