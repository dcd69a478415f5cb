package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestBpftracesTests runs bpftrace's runtime tests: those that concern the language alone, or those of which
// SONDE_BPFTRACE_KIND is the kind. They are not in this tree: SONDE_BPFTRACE is a checkout of it, and
// SONDE_BPFTRACE_PROGRAMS a folder with its test programs, for the tests that need them. -v lists what fails and why.
func TestBpftracesTests(t *testing.T) {
	root := os.Getenv("SONDE_BPFTRACE")
	if root == "" {
		t.Skip("SONDE_BPFTRACE is not set: a checkout of bpftrace, whose runtime tests are run")
	}
	kind, known := kinds[os.Getenv("SONDE_BPFTRACE_KIND")]
	if !known {
		t.Fatal("SONDE_BPFTRACE_KIND is uprobes or kprobes, or not set")
	}
	wanted := suite(t, root, kind.takes)
	folder := t.TempDir()
	for i, c := range wanted {
		c.number = i
		c.save(t, folder)
	}
	args := []string{"-timeout", "3h", "-m", "1G", "-add", folder + ":/bt", "-c", "/bin/sh /bt/run.sh"}
	if programs := os.Getenv("SONDE_BPFTRACE_PROGRAMS"); programs != "" {
		args = append([]string{"-deps", "-add", programs + ":/testprogs"}, args...)
	}
	log, err := launch(t, args...).Output()
	if ended := new(exec.ExitError); errors.As(err, &ended) {
		t.Errorf("%v\n%s", err, ended.Stderr)
	}
	passed := 0
	for _, c := range wanted {
		if why := c.judge(root, string(log)); why != "" {
			t.Logf("FAIL %s: %s: %s\n\t%s", c.suite, c.first("NAME"), c.script(), strings.ReplaceAll(why, "\n", "\n\t"))
		} else {
			passed++
		}
	}
	if t.Logf("%d of %d pass", passed, len(wanted)); passed < kind.least {
		t.Errorf("fewer than %d pass", kind.least)
	}
}

// suite are the tests of a checkout that are wanted.
func suite(t *testing.T, root string, wants func(*testCase) bool) (wanted []*testCase) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "tests/runtime/*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no runtime tests", root)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // a folder
		}
		for _, c := range cases(filepath.Base(file), string(text)) {
			if wants(c) {
				wanted = append(wanted, c)
			}
		}
	}
	return wanted
}

// testCase is a test: names and what stands after them.
type testCase struct {
	suite  string
	items  [][2]string
	number int // of those that are run
}

// cases cuts a file. A line that begins with blanks under a text continues with it.
func cases(suite, text string) (all []*testCase) {
	var c *testCase
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch name, rest, _ := strings.Cut(strings.TrimSpace(line), " "); {
		case strings.HasPrefix(line, "#"):
		case line == "":
			c = nil
		case c != nil && strings.TrimSpace(line[:min(len(line), len(c.last())+1)]) == "":
			item := &c.items[len(c.items)-1]
			item[1] += "\n" + line[min(len(line), len(item[0])+1):]
		default:
			if c == nil {
				c = &testCase{suite: suite}
				all = append(all, c)
			}
			c.items = append(c.items, [2]string{name, strings.TrimSpace(rest)})
		}
	}
	return all
}

func (c *testCase) last() string { return c.items[len(c.items)-1][0] }

func (c *testCase) first(name string) string {
	for _, item := range c.items {
		if item[0] == name {
			return item[1]
		}
	}
	return ""
}

func (c *testCase) script() string { return c.first("PROG") + c.first("RUN") }

var others = regexp.MustCompile(`testprogs|\b(u|ur|uprobe|uretprobe|usdt|U|kprobe|kretprobe|k|kr|fentry|fexit|kfunc|f|fr|t|tracepoint|rt|` +
	`rawtracepoint|watchpoint|w|aw|software|s|hardware|h|iter|it|profile|p|bench|self):[a-z./*{$_]|kaddr|cgroup_path|debugf|task_struct|curtask\.|curtask->|#include|--include`)

// concernsLanguage tells whether a test needs nothing but the language: no probes in the kernel or in
// programs, no kernel's types, nothing of the command line but the script and its arguments.
func (c *testCase) concernsLanguage() bool {
	if slices.Contains([]string{"usdt", "uprobe", "watchpoint", "dwarf", "dwunwind", "btf", "pid_namespace", "selftest", "languages", "file-output", "signals"}, c.suite) {
		return false
	}
	for _, name := range []string{"AFTER", "NEW_PIDNS", "BEFORE", "SETUP"} {
		if c.first(name) != "" {
			return false
		}
	}
	if a := c.first("ARCH"); a == "be" || a == "aarch64" {
		return false
	}
	if run := c.first("RUN"); run != "" && !strings.Contains(run, "-e") {
		return false
	}
	return !others.MatchString(c.script())
}

// judge returns why a test has failed, by the output of all; "": it has not.
func (c *testCase) judge(root, log string) string {
	text, code := c.logged(log)
	for _, item := range c.items {
		if !meets(item[0], item[1], root, text) {
			return item[0] + " " + item[1] + "\n" + text
		}
	}
	if failed := c.has("WILL_FAIL"); (code != 0) != (failed || c.first("RETURN_CODE") != "") {
		return "the script's end is another one\n" + text
	}
	return ""
}

func (c *testCase) has(name string) bool {
	return slices.ContainsFunc(c.items, func(i [2]string) bool { return i[0] == name })
}

// meets tells whether the output is as it is expected.
func meets(how, want, root, text string) bool {
	file := func() string {
		b, _ := os.ReadFile(filepath.Join(root, "tests", want))
		return strings.ReplaceAll(strings.TrimSpace(string(b)), "%H", "00")
	}
	line := `(?m)^\s*` + regexp.QuoteMeta(want) + `\s*$`
	switch how {
	case "EXPECT":
		return regexp.MustCompile(line).MatchString(text)
	case "EXPECT_NONE":
		return !regexp.MustCompile(line).MatchString(text)
	case "EXPECT_REGEX":
		return regexp.MustCompile("(?m)" + want).MatchString(text)
	case "EXPECT_REGEX_NONE":
		return !regexp.MustCompile("(?m)" + want).MatchString(text)
	case "EXPECT_FILE":
		_, text, _ = strings.Cut(text, "\n") // Attached …
		return strings.TrimSpace(text) == file()
	case "EXPECT_JSON":
		return sameJSON(text, file())
	}
	return true
}

func sameJSON(a, b string) bool {
	x, y := json.NewDecoder(strings.NewReader(a)), json.NewDecoder(strings.NewReader(b))
	for {
		var p, q any
		e, f := x.Decode(&p), y.Decode(&q)
		if e != nil || f != nil {
			return e != nil && f != nil && e.Error() == "EOF" && f.Error() == "EOF"
		}
		pb, _ := json.Marshal(p)
		qb, _ := json.Marshal(q)
		if string(pb) != string(qb) {
			return false
		}
	}
}
