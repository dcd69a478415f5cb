package shell

import (
	"bytes"
	"strings"
	"testing"
	"time"
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

// paged runs a script at a terminal of 24 rows on which keys are typed, one each time that the
// pager asks.
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
