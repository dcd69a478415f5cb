package line

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func editor(input string) (*Editor, *bytes.Buffer) {
	var out bytes.Buffer
	e := New(strings.NewReader(input), &out)
	e.Complete = func(line string, pos int) (int, []string) {
		start := strings.LastIndexAny(line[:pos], " =") + 1
		var list []string
		for _, c := range []string{"cat", "clear", "help", "kprobe", "kprobes", "symbol=", "tmp/", "zé1", "zè2"} {
			if strings.HasPrefix(c, line[start:pos]) {
				list = append(list, c)
			}
		}
		return start, list
	}
	return e, &out
}

func TestKeysEditTheLine(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"plain", "echo hi\r", "echo hi"},
		{"newline", "a\n", "a"},
		{"backspace and DEL", "abc\x7f\bd\r", "ad"},
		{"home and end", "bc\x01a\x05d\r", "abcd"},
		{"left and right", "ac\x02b\x06d\r", "abcd"},
		{"arrows", "ac\x1b[Db\x1b[Cd\r", "abcd"},
		{"application arrows", "ac\x1bODb\x1bOCd\r", "abcd"},
		{"home key", "b\x1b[Ha\x1b[Fc\r", "abc"},
		{"home key of vt", "b\x1b[1~a\x1b[4~c\r", "abc"},
		{"delete key", "abc\x1b[D\x1b[D\x1b[3~\r", "ac"},
		{"^D deletes", "abc\x01\x04\r", "bc"},
		{"^K and ^Y", "abcdef\x01\x06\x06\x0b\x19\x19\r", "abcdefcdef"},
		{"^U", "abc\x15d\r", "d"},
		{"^W", "one two\x17three\r", "one three"},
		{"words", "one two\x1bbX\x1bfY\r", "one XtwoY"},
		{"control arrows", "one two\x1b[1;5DX\r", "one Xtwo"},
		{"kill word", "one two\x01\x1bd\r", " two"},
		{"utf-8", "äö€😀\x7f\x02\x7fx\r", "äx€"},
		{"unknown sequence", "a\x1b[99;12zb\x1b[[Ac\r", "abc"},
		{"unknown application key", "a\x1bOPb\r", "ab"},
		{"lone escape", "a\x1bxb\r", "axb"},
		{"escape before enter", "a\x1b\r", "a"},
		{"cut sequence before enter", "a\x1b[1\r", "a"},
		{"broken utf-8", "a\xc3b\xe2\x82\r", "ab"},
		{"other controls", "a\x00\x1c\x14b\r", "ab"},
		{"left at the start", "\x02\x7f\x1b[Da\r", "a"},
		{"^R finds", "\x12vfs\r", "insmod x symbol=vfs.Read"},
		{"^R again", "\x12s\x12\r", "insmod x symbol=vfs.Read"},
		{"^R and on", "old\x12insm\x05 y\r", "insmod x symbol=vfs.Read y"},
		{"^R given up", "old\x12insm\x07er\r", "older"},
		{"^R of nothing", "old\x12zz\r", "old"},
		{"^R and less", "\x12sZ\x7f\x7f\r", "ls -l"},
		{"completion", "he\t/x\r", "help /x"},
		{"no space after /", "ls tm\tx\r", "ls tmp/x"},
		{"completion inside", "he x\x02\x02\tZ\r", "help Z x"},
		{"after =", "insmod x symbol=kp\ts \r", "insmod x symbol=kprobes "},
	}
	for _, tt := range tests {
		e, _ := editor(tt.in)
		e.History.lines = []string{"insmod x symbol=vfs.Read", "ls -l"}
		if got, err := e.ReadLine("$ "); got != tt.want || err != nil {
			t.Errorf("%s: got %q, %v, want %q", tt.name, got, err, tt.want)
		}
	}
}

func TestEndsOfLinesOfAllKinds(t *testing.T) {
	e, _ := editor("a\rb\nc\r\nd\r\n\ne\r\r")
	var got []string
	for {
		s, err := e.ReadLine("")
		if err == io.EOF {
			break
		}
		got = append(got, s)
	}
	if want := []string{"a", "b", "c", "d", "", "e", ""}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestHistoryGoesUpAndBackToTheDraft(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"\x1b[A\r", "two"},
		{"\x10\x10\r", "one"},
		{"\x1b[A\x1b[A\x1b[A\x1b[A\r", "one"},
		{"dra\x1b[A\x1b[A\x1b[B\x1b[Bft\r", "draft"},
		{"\x1b[B\x1b[A!\r", "two!"},
	} {
		e, _ := editor(tt.in)
		for _, s := range []string{"one", "two", "two", ""} {
			e.History.Add(s)
		}
		if got, err := e.ReadLine(""); got != tt.want || err != nil {
			t.Errorf("%q: got %q, %v, want %q", tt.in, got, err, tt.want)
		}
	}
}

func TestHistoryForgetsTheOldest(t *testing.T) {
	var h History
	for i := range historySize + 5 {
		h.Add(strings.Repeat("x", i+1))
	}
	if n := len(h.Lines()); n != historySize || len(h.Lines()[0]) != 6 {
		t.Errorf("%d lines, the first of %d", n, len(h.Lines()[0]))
	}
}

func TestInterruptAndEndOfInput(t *testing.T) {
	e, out := editor("abc\x03\x04")
	if _, err := e.ReadLine("$ "); err != ErrInterrupted {
		t.Errorf("^C: %v", err)
	}
	if got := out.String(); got != "$ abc^C\n" {
		t.Errorf("shown %q", got)
	}
	if _, err := e.ReadLine("$ "); err != io.EOF {
		t.Errorf("^D: %v", err)
	}
}

func TestTypingAtTheEndOnlyEchoes(t *testing.T) {
	e, out := editor("echo hi\r")
	e.ReadLine("sonde# ")
	if got, want := out.String(), "sonde# echo hi\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSecondTabListsWhatIsPossible(t *testing.T) {
	e, out := editor("c\t\t\r")
	if got, _ := e.ReadLine("$ "); got != "c" {
		t.Errorf("line %q", got)
	}
	if got, want := out.String(), "$ c\a\ncat    clear\n\r\x1b[J$ c\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAmbiguousCompletionGoesAsFarAsCertain(t *testing.T) {
	e, out := editor("k\t\r")
	if got, _ := e.ReadLine(""); got != "kprobe" || strings.Contains(out.String(), "\a") {
		t.Errorf("got %q, shown %q", got, out)
	}
}

// TestCharactersStayWhole: candidates that differ within a character, and a search from which one is removed.
func TestCharactersStayWhole(t *testing.T) {
	e, _ := editor("z\t\r" + "\x12é\x7fb\r")
	if got, _ := e.ReadLine(""); got != "z" {
		t.Errorf("completed: %q", got)
	}
	e.History.Add("xb")
	if got, _ := e.ReadLine(""); got != "xb" {
		t.Errorf("found: %q", got)
	}
}

func TestTooLongALineIsRefused(t *testing.T) {
	e, _ := editor(strings.Repeat("x", maxLine+10) + "\r")
	if got, _ := e.ReadLine(""); len(got) != maxLine {
		t.Errorf("%d bytes", len(got))
	}
}

func FuzzEditorShowsWhatItHolds(f *testing.F) {
	for _, s := range []string{"abc\x01x\x0b", "123456789012345\x02\x02\x7fä", "a b c d e f g h i j k\x17\x19\x19\x01zz\x05", "c\t\t\x1b[A"} {
		f.Add(s)
	}
	f.Add("\x12")
	f.Fuzz(func(t *testing.T, keys string) {
		if !utf8.ValidString(keys) || strings.ContainsAny(keys, "\x03\x04\r\n\x0c") {
			t.Skip()
		}
		e, out := editor(keys)
		e.Columns = 10
		e.History.Add("an older line that wraps")
		e.ReadLine("$ ")
		e.flush()
		if e.search != nil {
			return // the screen shows the search
		}
		s := screen{columns: 10}
		s.write(out.String())
		if want := "$ " + string(e.buf); !strings.HasSuffix(s.text(), strings.TrimRight(want, " ")) {
			t.Errorf("%q: screen %q, line %q", keys, s.text(), want)
		}
		if got, want := s.cursor(), e.column(e.pos)%10; got != want {
			t.Errorf("%q: cursor in column %d, want %d", keys, got, want)
		}
	})
}

// TestTerminalTellsItsSize: ^L asks, and the answer is not input.
func TestTerminalTellsItsSize(t *testing.T) {
	e, out := editor("ab\x0c\x1b[43;132Rc\x1b[9R\x1b[0;5R\x1b[5;99999Rd\r")
	var rows, columns int
	e.Resized = func(r, c int) { rows, columns = r, c }
	if got, err := e.ReadLine("$ "); got != "abcd" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	if rows != 43 || columns != 132 || e.Columns != 132 || !strings.Contains(out.String(), "\x1b[6n") {
		t.Errorf("%d rows, %d columns, %d: %q", rows, columns, e.Columns, out)
	}
	e, out = editor("ab\x0cc\x1b[43;132Rd\r") // this one does not ask
	if got, _ := e.ReadLine("$ "); got != "abcd" || e.Columns != 80 || strings.Contains(out.String(), "\x1b[6n") {
		t.Errorf("got %q, %d columns: %q", got, e.Columns, out)
	}
}
