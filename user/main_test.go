//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestMain makes this test a box, too.
func TestMain(m *testing.M) {
	if name := os.Getenv("BOX"); name != "" {
		os.Exit(run(name, os.Args[1:]))
	}
	if name := filepath.Base(os.Args[0]); names()[name] {
		os.Exit(run(name, os.Args[1:]))
	}
	os.Exit(m.Run())
}

// box runs one of the programs.
func box(t *testing.T, input, name string, args ...string) (out string, code int) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "BOX="+name)
	cmd.Stdin = strings.NewReader(input)
	b, err := cmd.Output()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return string(b), cmd.ProcessState.ExitCode()
}

func TestProgramsAndTheirStatus(t *testing.T) {
	file := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(file, []byte("#!/bin/sh\necho \"$1 of $#\"\nexit 4\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		input string
		words []string
		out   string
		code  int
	}{
		{"", []string{"sh", "-c", "for i in 1 2; do echo $i; done; exit 3"}, "1\n2\n", 3},
		{"", []string{"sh", "-c", "echo $0 $1", "name", "one"}, "name one\n", 0},
		{"x=1\necho $((x+1))\n", []string{"sh"}, "2\n", 0},
		{"", []string{"sh", "-c", "if"}, "", 2},
		{"", []string{"sh", "-c"}, "", 1},
		{"", []string{"sh", "/no/such/file"}, "", 127},
		{"", []string{"sh", "-z"}, "", 1},
		{"text\n", []string{"cat"}, "text\n", 0},
		{"", []string{"cat", "/no/such/file"}, "", 1},
		{"", []string{"nosuch"}, "", 127},
		{"", []string{"sleep", "-1"}, "", 2},
		{"", []string{"sleep", "0.01"}, "", 0},
		{"", []string{"burn", "-x"}, "", 2},
		{"", []string{"work", "-n", "2", "-rounds", "3"}, "196044415fafc7a6\n", 0},
		{"a\nb\n", []string{"xargs", "echo"}, "a b\n", 0},
	} {
		out, code := box(t, c.input, c.words[0], c.words[1:]...)
		if out != c.out || code != c.code {
			t.Errorf("%q: %q and status %d, want %q and %d", c.words, out, code, c.out, c.code)
		}
	}
	if out, code := box(t, "", "sh", file, "arg"); code != 4 || out != "arg of 1\n" {
		t.Errorf("a script: %q, status %d", out, code)
	}
}

func TestListHasEveryProgram(t *testing.T) {
	out, code := box(t, "", "box")
	for name := range names() {
		if !strings.Contains("\n"+out, "\n"+name+"\n") {
			t.Errorf("%s is not in %q", name, out)
		}
	}
	if code != 0 {
		t.Error(code)
	}
}

func TestNmFindsWhatIsToBeProbed(t *testing.T) {
	if _, err := exec.LookPath("nm"); err != nil {
		t.Skip(err) // make check does without binutils
	}
	bin := filepath.Join(t.TempDir(), "box")
	if out, err := exec.Command("go", "build", "-ldflags=-w", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, how := range []string{"-p", "-n", "-"} {
		args := []string{how, bin}
		if how == "-" {
			args = args[1:]
		}
		out, code := box(t, "", "nm", args...)
		want, err := exec.Command("nm", args...).Output()
		if err != nil {
			t.Fatal(err)
		}
		if code != 0 || !strings.Contains(out, " T myfunc\n") || ordered(out, how) != ordered(string(want), how) {
			t.Errorf("%v: status %d, %d bytes, nm prints %d", args, code, len(out), len(want))
		}
	}
	t.Setenv("PATH", filepath.Dir(bin)+":"+os.Getenv("PATH"))
	if out, code := box(t, "", "nm", "box"); code != 0 || !strings.Contains(out, " T myfunc\n") {
		t.Errorf("by its name alone: status %d, %d bytes", code, len(out))
	}
	if _, code := box(t, "", "nm", os.DevNull); code != 1 {
		t.Error("nm takes /dev/null for a program")
	}
}

// ordered sorts the lines of nm's output, which nm leaves in any order where keys are
// equal, unless it is asked not to sort.
func ordered(text, how string) string {
	list := strings.SplitAfter(text, "\n")
	if how != "-p" {
		slices.Sort(list)
	}
	return strings.Join(list, "")
}

func TestMyprogCallsMyfunc(t *testing.T) {
	out, code := box(t, "", "myprog", "-n", "3", "-every", "1ms")
	if code != 0 || strings.Count(out, "\n") != 3 || !strings.Contains(out, "myfunc(3) = 9\n") {
		t.Errorf("%q, status %d", out, code)
	}
}

func TestBurnCountsRounds(t *testing.T) {
	out, code := box(t, "", "burn", "-n", "2", "-t", "50ms")
	if n := len(strings.Fields(out)); code != 0 || n != 2 || strings.HasPrefix(out, "0 ") {
		t.Errorf("%q, status %d", out, code)
	}
}
