package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// tmux is a terminal of some width, at which the launcher runs.
type tmux struct {
	t      *testing.T
	socket string
}

func newTmux(t *testing.T, columns, rows int, command string) *tmux {
	x := &tmux{t, filepath.Join(t.TempDir(), "tmux")}
	x.do("-f", "/dev/null", "new-session", "-d", "-x", fmt.Sprint(columns), "-y", fmt.Sprint(rows), command)
	t.Cleanup(func() { exec.Command("tmux", "-S", x.socket, "kill-server").Run() })
	return x
}

func (x *tmux) do(args ...string) string {
	x.t.Helper()
	cmd := exec.Command("tmux", append([]string{"-S", x.socket}, args...)...)
	cmd.Env = append(os.Environ(), "TERM=xterm", "TMUX=")
	out, err := cmd.CombinedOutput()
	if err != nil {
		x.t.Fatalf("tmux %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// see waits until the screen's text, without what is above it, fits.
func (x *tmux) see(what string, fits func(screen string) bool) {
	x.t.Helper()
	screen := ""
	for from := time.Now(); time.Since(from) < bootLimit/3; time.Sleep(100 * time.Millisecond) {
		if screen = x.do("capture-pane", "-p"); fits(screen) {
			return
		}
	}
	x.t.Fatalf("%s is not on the screen:\n%s", what, screen)
}

func (x *tmux) sees(text string) {
	x.t.Helper()
	x.see(fmt.Sprintf("%q", text), func(screen string) bool { return strings.Contains(screen, text) })
}

// ends waits until the last line with something in it is text.
func (x *tmux) ends(text string) {
	x.t.Helper()
	x.see(fmt.Sprintf("%q at the end", text), func(screen string) bool { return strings.HasSuffix(strings.TrimSpace(screen), text) })
}

func (x *tmux) keys(keys ...string) {
	x.t.Helper()
	x.do(append([]string{"send-keys"}, keys...)...)
}

// TestTerminalsOfAnyWidth uses the prompt in terminals of 100 and of 132 columns: long lines, what
// ^R finds, the pager and watch are right there.
func TestTerminalsOfAnyWidth(t *testing.T) {
	runsBeside(t)
	path, err := launcher()
	if err != nil {
		t.Fatal(err)
	}
	image := imagePath(t, normalImage)
	for _, columns := range []int{100, 132} {
		t.Run(fmt.Sprint(columns), func(t *testing.T) {
			const rows = 30
			x := newTmux(t, columns, rows, fmt.Sprintf("%s -smp 2 -image %s; sleep 1000", path, image))
			x.ends("sonde#")
			longLine(x, columns)
			x.keys("C-l")
			pages(x, rows)
			x.keys("C-l")
			x.keys("watch -n 0.3 cat /proc/uptime", "Enter")
			x.see("watch", func(s string) bool { return strings.HasPrefix(s, "Every 0.3s: cat /proc/uptime\n\n") })
			before := x.do("capture-pane", "-p")
			x.see("another time", func(s string) bool { return s != before && strings.HasPrefix(s, "Every 0.3s: ") })
			x.keys("C-c")
			x.ends("sonde#")
			x.keys("exit 3", "Enter") // a new session
			x.ends("sonde#")
			x.keys("echo $?", "Enter")
			x.sees("\n3\n")
		})
	}
}

// longLine types a line that is longer than a row, changes its beginning, runs it, and finds it again.
func longLine(x *tmux, columns int) {
	x.t.Helper()
	const prompt = "sonde# "
	word := strings.Repeat("0123456789", 15)
	x.keys("echo a" + word)
	typed := prompt + "echo a" + word
	x.sees(typed[:columns] + "\n" + typed[columns:])
	x.keys("Home", "M-f", "C-f", "b") // after echo and a space; ^A is the launcher's
	typed = prompt + "echo ba" + word
	x.sees(typed[:columns] + "\n" + typed[columns:])
	x.keys("Enter")
	x.sees("\n" + ("ba" + word)[:columns] + "\n" + ("ba" + word)[columns:] + "\n")
	x.ends("sonde#")
	x.keys("true", "Enter")
	x.keys("C-r", "a0123")
	found := "(reverse-i-search)`a0123': echo ba" + word
	x.sees(found[:columns] + "\n" + found[columns:])
	x.keys("C-e")
	x.sees("true\n" + typed[:columns] + "\n" + typed[columns:])
	x.keys("C-u")
	x.ends("sonde#")
}

// pages shows a long text by pages.
func pages(x *tmux, rows int) {
	x.t.Helper()
	x.keys("cat /proc/kallsyms | head -100 | more", "Enter")
	x.ends("--More--")
	first := strings.Split(x.do("capture-pane", "-p"), "\n")
	x.keys("Space")
	x.see("the next page", func(s string) bool {
		lines := strings.Split(s, "\n")
		return strings.Contains(s, "--More--") && lines[0] != first[0] && len(lines) >= rows && lines[rows-1] == "--More--"
	})
	x.keys("q")
	x.ends("sonde#")
	x.keys("cat /proc/kallsyms | head -100 | less", "Enter")
	x.ends("\n:")
	begin := x.do("capture-pane", "-p")
	x.keys("Space", "k", "G")
	x.ends("(END):")
	x.keys("g")
	x.see("the first page again", func(s string) bool { return s == begin })
	x.keys("q")
	x.ends("sonde#")
}

// TestATerminalShowsTheLogOnce runs a script that prints the log, on a terminal, and one that does not. A
// script of many words is not in the log.
func TestATerminalShowsTheLogOnce(t *testing.T) {
	runsBeside(t)
	path, err := launcher()
	if err != nil {
		t.Fatal(err)
	}
	image := imagePath(t, normalImage)
	for _, script := range []string{
		"dmesg; true " + strings.Repeat("word ", 200) + "; echo the end",
		"dmesg | grep -c nothing; echo the end",
	} {
		x := newTmux(t, 100, 60, fmt.Sprintf("%s -smp 1 -image %s -c '%s'; echo finished; sleep 1000", path, image, script))
		x.ends("finished")
		s := x.do("capture-pane", "-p")
		if n := strings.Count(s, " booting on "); n != 1 || strings.Count(s, "word word") > 25 || strings.Count(s, "the end") > 2 {
			t.Errorf("%q: booting %d times:\n%s", script, n, s)
		}
	}
}
