package coreutils

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// dir is a folder of the host.
type dir string

func (d dir) Open(path string) (io.ReadCloser, error)      { return os.Open(d.in(path)) }
func (d dir) Stat(path string) (fs.FileInfo, error)        { return os.Stat(d.in(path)) }
func (d dir) Lstat(path string) (fs.FileInfo, error)       { return os.Lstat(d.in(path)) }
func (d dir) ReadDir(path string) ([]fs.DirEntry, error)   { return os.ReadDir(d.in(path)) }
func (d dir) Readlink(path string) (string, error)         { return os.Readlink(d.in(path)) }
func (d dir) Mkdir(path string, perm fs.FileMode) error    { return os.Mkdir(d.in(path), perm) }
func (d dir) MkdirAll(path string, perm fs.FileMode) error { return os.MkdirAll(d.in(path), perm) }
func (d dir) Remove(path string) error                     { return os.Remove(d.in(path)) }
func (d dir) in(path string) string                        { return filepath.Join(string(d), path) }

// do runs a command, and returns what it prints, with its errors.
func do(files Files, input string, line ...string) (out string, status int) {
	var b bytes.Buffer
	u := &IO{Name: line[0], In: strings.NewReader(input), Out: &b, Err: &b, Files: files, Kill: noKill}
	for _, c := range Commands {
		if c.Name == line[0] {
			status = c.Exec(u, line[1:])
		}
	}
	return b.String(), status
}

// noKill finds no process.
func noKill(_ int, target string) error {
	if _, err := Pid(target); err != nil {
		return err
	}
	return errors.New(target + ": no")
}

func TestCommands(t *testing.T) {
	d := dir(t.TempDir())
	for name, text := range map[string]string{"one": "a b\nc\n", "two": "d", ".dot": ""} {
		if err := os.WriteFile(d.in(name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("one", d.in("link")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		line, input, out string
		status           int
	}{
		{"wc one", "", "2 3 6 one\n", 0},
		{"wc -l one two", "", "2 one\n0 two\n2 total\n", 0},
		{"wc -l", "x\ny", "1\n", 0},
		{"wc -l none one", "", "wc: NONE: no such file or directory\n2 one\n2 total\n", 1},
		{"cat one - two", "in\n", "a b\nc\nin\nd", 0},
		{"cat -n", "", "cat: unknown option -n\nusage: cat [file...]\n", 2},
		{"head -n 1 one two", "", "a b\nd", 0},
		{"head -c3", "12345", "123", 0},
		{"head -0", "1\n", "", 0},
		{"tail -1 one", "", "c\n", 0},
		{"tail -n x", "", "tail: \"x\" is not a number of lines\nusage: tail [-n lines] [file...]\n", 2},
		{"ls", "", "link\none\ntwo\n", 0},
		{"ls -a", "", ".dot\nlink\none\ntwo\n", 0},
		{"ls -R .", "", ".:\nlink\none\ntwo\n", 0},
		{"ls link none", "", "link\nls: NONE: no such file or directory\n", 1},
		{"grep -c c one two", "", "one:1\ntwo:0\n", 0},
		{"grep -q a", "b\n", "", 1},
		{"grep a none", "", "grep: NONE: no such file or directory\n", 2},
		{"grep -n ^c one", "", "2:c\n", 0},
		{"mkdir -p x/y", "", "", 0},
		{"mkdir x", "", "mkdir: X: file exists\n", 1},
		{"rm x", "", "rm: X: directory not empty\n", 1},
		{"rm -r x link", "", "", 0},
		{"rm -f x", "", "", 0},
		{"ls -d x", "", "ls: X: no such file or directory\n", 1},
		{"cat one", "", "a b\nc\n", 0},
		{"kill 1x -9", "", "kill: 1x: arguments must be process or job numbers\nkill: -9: no\n", 1},
		{"kill", "", "kill: give a job, a process or a group\nusage: kill [-signal] job|process|-group... | -l\n", 2},
		{"kill -NO 1", "", "kill: there is no signal NO\nusage: kill [-signal] job|process|-group... | -l\n", 2},
		{"sleep 1x", "", "sleep: \"1x\" is not a duration\nusage: sleep seconds\n", 2},
		{"sleep -1s", "", "sleep: \"-1s\" is negative\nusage: sleep seconds\n", 2},
		{"echo -n --help", "", "--help", 0},
		{"wc -h", "", "usage: wc [-lwc] [file...]\ncount lines, words and bytes\n", 0},
		{"true --help", "", "usage: true\nsucceed\n", 0},
		{"false", "", "", 1},
	} {
		words := strings.Fields(c.line)
		out, status := do(d, c.input, words...)
		want := c.out
		for _, name := range []string{"none", "x"} {
			want = strings.ReplaceAll(want, strings.ToUpper(name)+":", d.in(name)+":")
		}
		if out != want || status != c.status {
			t.Errorf("%s: %q, status %d; want %q, %d", c.line, out, status, want, c.status)
		}
	}
}

// TestLongLists: the mode, the size, and where a link leads.
func TestLongLists(t *testing.T) {
	d := dir(t.TempDir())
	if err := os.Symlink("nowhere", d.in("link")); err != nil {
		t.Fatal(err)
	}
	out, status := do(d, "", "ls", "-l")
	if status != 0 || !strings.HasPrefix(out, "lrwxrwxrwx        7 ") || !strings.HasSuffix(out, " link -> nowhere\n") {
		t.Errorf("%q, status %d", out, status)
	}
}

// TestBasicRegularExpressions: what they mean in POSIX and GNU's grep; but (* is text.
func TestBasicRegularExpressions(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"a.c", "abc", true}, {`a\.c`, "abc", false}, {"a+", "a+", true}, {"a+", "aa", false}, {`a\+$`, "aa", true},
		{"*a", "*a", true}, {"^*a", "*a", true}, {"a*b", "aaab", true}, {"(a|b)", "(a|b)", true}, {`\(a\|b\)c`, "bc", true},
		{"vfs.(*File).Read", "sonde/kernel/vfs.(*File).Read+0x0", true}, {"f()", "f()", true}, {`a\{2\}`, "aa", true},
		{"a{2}", "a{2}", true}, {"a$b", "a$b", true}, {"a^b", "a^b", true}, {`^a\|b$`, "xb", true}, {`[]a]`, "]", true},
		{`[\.]`, `\`, true}, {"[[:digit:]]x", "1x", true}, {"a?", "b", false}, {`^$`, "", true},
		{"^[", "[ 0.1] log", true}, {"[a", "[a", true},
	} {
		re, err := patternOf(c.pattern, nil)
		if err != nil || re.MatchString(c.text) != c.want {
			t.Errorf("%s on %q: %v, %v", c.pattern, c.text, !c.want, err)
		}
	}
}

// TestWhatIsKnownIsShown: a line is printed before the command waits for the next.
func TestWhatIsKnownIsShown(t *testing.T) {
	for _, line := range []string{"grep a", "cat", "head -n 2"} {
		in, write := io.Pipe()
		read, out := io.Pipe()
		words := strings.Fields(line)
		go func() {
			for _, c := range Commands {
				if c.Name == words[0] {
					c.Exec(&IO{Name: c.Name, In: in, Out: out, Err: out}, words[1:])
				}
			}
		}()
		got := make(chan string)
		go func() {
			b := make([]byte, 10)
			n, _ := read.Read(b)
			got <- string(b[:n])
		}()
		write.Write([]byte("a\n"))
		select {
		case text := <-got:
			if text != "a\n" {
				t.Errorf("%s: %q", line, text)
			}
		case <-time.After(time.Minute):
			t.Errorf("%s waits for more before it prints what it has", line)
		}
		write.Close()
	}
}

// TestTrees: ls goes down, puts the largest first, and marks what is no plain file.
func TestTrees(t *testing.T) {
	d := dir(t.TempDir())
	if err := os.MkdirAll(d.in("top/sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, n := range map[string]int{"top/a": 1, "top/b": 3000, "top/sub/c": 2} {
		if err := os.WriteFile(d.in(name), make([]byte, n), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for line, want := range map[string]string{
		"ls -R top": "top:\na\nb\nsub\n\ntop/sub:\nc\n", "ls -F top": "a*\nb*\nsub/\n", "ls -S top/a top/b": "top/a\ntop/b\n",
	} {
		if out, status := do(d, "", strings.Fields(line)...); out != want || status != 0 {
			t.Errorf("%s: %q, %d; want %q", line, out, status, want)
		}
	}
	if out, _ := do(d, "", "ls", "-S", "top"); strings.Index(out, "b") > strings.Index(out, "a") {
		t.Errorf("ls -S: %q", out)
	}
	for n, want := range map[int64]string{0: "0", 1023: "1023", 1024: "1.0K", 1025: "1.1K", 10240: "10K", 10241: "11K", 1e6: "977K", 1 << 20: "1.0M", 64 << 30: "64G"} {
		if got := (lister{human: true}).size(n); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
}
