package shell

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestExitEndsTheScript(t *testing.T) {
	for script, want := range map[string]int{
		"exit 7; echo no": 7, "false; exit": 1, "exit && echo no": 0, "exit x": 2, "exit 300": 2,
		"repeat 2 exit 3; true": 0, "true || exit 4; exit 6": 6,
	} {
		var out bytes.Buffer
		s := New(fakeMachine(), &out)
		if got := s.Run(script); got != want || strings.Contains(out.String(), "no\n") {
			t.Errorf("%s: %d, want %d: %s", script, got, want, &out)
		}
	}
}

func TestTimeTellsHowLong(t *testing.T) {
	var out, errs bytes.Buffer
	s := New(fakeMachine(), &out)
	s.Err = &errs
	if status := s.Run("time sleep 0.05"); status != 0 || !strings.HasPrefix(errs.String(), "real\t0m0.") || out.Len() > 0 {
		t.Errorf("status %d: %q, %q", status, &out, &errs)
	}
	if status := s.Run("time false"); status != 1 {
		t.Errorf("status %d", status)
	}
}

// paged runs a script on a terminal of 24 rows; one key is typed each time the pager waits.
func paged(keys, script string) string {
	var out bytes.Buffer
	s := New(fakeMachine(), &out)
	s.interrupt = make(chan struct{})
	s.typeAhead = func() []byte {
		if keys == "" {
			return nil
		}
		k := keys[:1]
		keys = keys[1:]
		return []byte(k)
	}
	s.Run(script)
	return strings.NewReplacer("\x1b[7m", "", "\x1b[m", "", "\r\x1b[K", "\n").Replace(out.String())
}

func TestMoreShowsPages(t *testing.T) {
	const script = "repeat 60 echo line | more"
	page := strings.Repeat("line\n", 23)
	for _, c := range []struct{ keys, want string }{
		{"q", page + "--More--\n"},
		{"x q", page + "--More--\n" + page + "--More--\n"},
		{"\rq", page + "--More--\nline\n--More--\n"},
		{"  ", page + "--More--\n" + page + "--More--\n" + strings.Repeat("line\n", 14)},
	} {
		if got := paged(c.keys, script); got != c.want {
			t.Errorf("%q: got\n%s", c.keys, got)
		}
	}
	long := strings.Repeat("x", 81) // takes two rows
	if got := paged("q", "repeat 20 echo "+long+" | more"); strings.Count(got, long) != 11 {
		t.Errorf("%d long lines on a page", strings.Count(got, long))
	}
}

// TestLessGoesBothWays types keys, and checks the last screen.
func TestLessGoesBothWays(t *testing.T) {
	for _, c := range []struct{ keys, first, last, says string }{
		{"", "line 1", "line 23", ":"},
		{" ", "line 24", "line 46", ":"},
		{"  ", "line 38", "line 60", "(END):"},
		{" b", "line 1", "line 23", ":"},
		{"Gk", "line 37", "line 59", ":"},
		{"G", "line 38", "line 60", "(END):"},
		{"Gbg", "line 1", "line 23", ":"},
		{"\rj", "line 3", "line 25", ":"},
		{"kkk", "line 1", "line 23", ":"},
		{"/ 3\r", "line 3", "line 25", ":"},
		{"/ 3\rn", "line 30", "line 52", ":"},
		{"/ 3\rnN", "line 3", "line 25", ":"},
		{"/ 4x\x7f5\r", "line 45", "line 60", "(END):"},
		{"/é 5\r", "line 5 é 5", "line 27", ":"},
		{"/xé\x7f\x7f 3\r", "line 3", "line 25", ":"},
		{"/nowhere\r", "line 1", "line 23", "no more lines with nowhere:"},
		{"\x1b[6~\x1b[B\x1b[A", "line 24", "line 46", ":"},
		{"\x1b[5~\x1b[F", "line 38", "line 60", "(END):"},
	} {
		var b, out strings.Builder
		for i := range 60 {
			fmt.Fprintf(&b, "line %d", i+1)
			if i == 4 && strings.Contains(c.keys, "é 5") {
				b.WriteString(" é 5")
			}
			b.WriteByte('\n')
		}
		s := New(fakeMachine(), &out)
		keys := c.keys + "q"
		s.interrupt = make(chan struct{})
		s.typeAhead = func() []byte {
			n := 1
			if strings.HasPrefix(keys, "\x1b") {
				n = strings.IndexAny(keys, "~ABF") + 1
			}
			k := keys[:n]
			keys = keys[n:]
			return []byte(k)
		}
		s.In = strings.NewReader(b.String())
		if status := s.Run("less"); status != 0 {
			t.Fatalf("%q: status %d", c.keys, status)
		}
		screens := strings.Split(out.String(), "\x1b[H\x1b[2J")
		lines := strings.Split(strings.TrimSuffix(screens[len(screens)-1], "\x1b[m\r\x1b[K"), "\n")
		if n := len(lines); lines[0] != c.first || lines[n-2] != c.last || lines[n-1] != "\x1b[7m"+c.says {
			t.Errorf("%q: %q to %q, %q", c.keys, lines[0], lines[n-2], lines[n-1])
		}
	}
	if got := text("a\tb\x1b[m\n"); got != "a       b?[m" {
		t.Errorf("%q", got)
	}
}

// TestWatchFitsTheScreen: neither a long line nor many of them scroll the first row away.
func TestWatchFitsTheScreen(t *testing.T) {
	var out bytes.Buffer
	s := New(fakeMachine(), &out)
	s.Run("watch -c 1 'repeat 40 echo " + strings.Repeat("é", 100) + "'")
	screen := strings.TrimPrefix(out.String(), "\x1b[H\x1b[2J")
	lines := strings.Split(strings.TrimSuffix(screen, "\n"), "\n")
	if len(lines) != 23 || !strings.HasPrefix(lines[0], "Every 2.0s: repeat 40 echo ") || lines[1] != "" || lines[22] != strings.Repeat("é", 80) {
		t.Errorf("%d lines:\n%s", len(lines), screen)
	}
	for _, line := range lines {
		if utf8.RuneCountInString(line) > 80 {
			t.Errorf("too long: %s", line)
		}
	}
}

// TestWatchAndTheLogGoOnUntilInterrupted types ^C at both.
func TestWatchAndTheLogGoOnUntilInterrupted(t *testing.T) {
	for _, script := range []string{"watch -n 0.1 echo hi", "dmesg -w", "repeat 100000000 true"} {
		var out bytes.Buffer
		s := New(fakeMachine(), &out)
		c := make(chan struct{})
		s.interrupt = c
		time.AfterFunc(300*time.Millisecond, func() { close(c) })
		if status := s.Run(script); status != statusInterrupted {
			t.Errorf("%s: status %d: %s", script, status, &out)
		}
	}
}
