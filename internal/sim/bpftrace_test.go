package sim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sonde/trace/lang"
	"sonde/trace/run"
)

// TestBpftrace runs bpftrace's runtime tests: those that concern the language alone, or those of which
// SONDE_BPFTRACE_KIND is the kind. They are not in this tree: SONDE_BPFTRACE is a checkout of it. -v lists
// what fails and why.
//
// With SONDE_BPFTRACE_SCRIPTS nothing is run: that folder gets what /bin/sh runs on the machine by the file
// run.sh, if the folder is there as /bt (-add FOLDER:/bt), and bpftrace's programs for its tests, if they are
// wanted, as /testprogs. With SONDE_BPFTRACE_LOG, what run.sh has printed is judged.
func TestBpftrace(t *testing.T) {
	root := os.Getenv("SONDE_BPFTRACE")
	if root == "" {
		t.Skip("SONDE_BPFTRACE is not set: a checkout of bpftrace, whose runtime tests are run")
	}
	files, err := filepath.Glob(filepath.Join(root, "tests/runtime/*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no runtime tests", root)
	}
	kind, known := kinds[os.Getenv("SONDE_BPFTRACE_KIND")]
	if !known {
		t.Fatal("SONDE_BPFTRACE_KIND is uprobes or kprobes, or not set")
	}
	passed, all := 0, 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // a folder
		}
		for _, c := range cases(filepath.Base(file), string(text)) {
			if !kind.takes(c) {
				continue
			}
			c.number = all
			all++
			if folder := os.Getenv("SONDE_BPFTRACE_SCRIPTS"); folder != "" {
				c.save(t, folder)
			} else if why := c.run(root); why != "" {
				t.Logf("FAIL %s: %s: %s\n\t%s", c.suite, c.first("NAME"), c.script(), strings.ReplaceAll(why, "\n", "\n\t"))
			} else {
				passed++
			}
		}
	}
	if t.Logf("%d of %d pass", passed, all); passed < kind.least && os.Getenv("SONDE_BPFTRACE_SCRIPTS") == "" {
		t.Errorf("fewer than %d pass", kind.least)
	}
}

// testCase is a test: names and what stands after them.
type testCase struct {
	suite  string
	items  [][2]string
	number int // of those that concern the language
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
	if run := c.first("RUN"); run != "" {
		if _, err := words(run); err != nil || !strings.Contains(run, "-e") {
			return false
		}
	}
	return !others.MatchString(c.script())
}

// words cuts a command line of a shell.
func words(line string) (all []string, err error) {
	word, inside, quote := "", false, byte(0)
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quote != 0 && c == quote:
			quote = 0
		case quote != '\'' && c == '\\' && i+1 < len(line) && (quote == 0 || strings.IndexByte(`"\$`, line[i+1]) >= 0):
			i++
			word, inside = word+string(line[i]), true
		case quote != 0:
			word += string(c)
		case c == '\'' || c == '"':
			quote, inside = c, true
		case c == ' ':
			if inside {
				all = append(all, word)
			}
			word, inside = "", false
		case strings.IndexByte("|;&<>$`", c) >= 0:
			return nil, fmt.Errorf("this needs a shell")
		default:
			word, inside = word+string(c), true
		}
	}
	if inside {
		all = append(all, word)
	}
	return all, nil
}

// options is the command line as Options; err is what the command says of it.
func (c *testCase) options() (o *Options, dry bool, err error) {
	o = &Options{Name: "stdin", Comm: "bpftrace", Script: c.first("PROG"), Cat: cat, System: system}
	if o.Script != "" {
		o.JSON = c.first("EXPECT_JSON") != ""
		o.Quiet = o.JSON
	} else {
		all, _ := words(c.first("RUN"))
		f, err := run.ParseFlags(all[1:])
		if err != nil {
			return nil, false, err
		}
		o.Script, o.Params, o.JSON, o.Quiet, o.Missing, o.NoWarnings, dry = f.Script, f.Args, f.JSON, f.Quiet, f.Missing, f.NoWarnings, f.DryRun
	}
	for _, pair := range strings.Fields(c.first("ENV")) {
		name, value, _ := strings.Cut(pair, "=")
		o.Settings = append(o.Settings, lang.Setting{Name: name, Value: value})
	}
	return o, dry, nil
}

func cat(file string) (string, error) {
	b, err := os.ReadFile(file)
	return string(b), err
}

func system(command string) (string, error) {
	b, err := exec.Command("sh", "-c", command).Output()
	return string(b), err
}

// run returns why a test fails.
func (c *testCase) run(root string) (why string) {
	defer func() {
		if r := recover(); r != nil {
			why = fmt.Sprint("panic: ", r)
		}
	}()
	text, code := "", 0
	if log := os.Getenv("SONDE_BPFTRACE_LOG"); log != "" {
		text, code = c.logged(log)
	} else {
		text, code = c.simulated()
	}
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

// simulated is what the script says, and with which status it ends.
func (c *testCase) simulated() (string, int) {
	var text bytes.Buffer
	o, dry, err := c.options()
	if err != nil {
		return err.Error() + "\n", 1
	}
	if o.W = &text; dry {
		return "", 0
	}
	result, err := Run(o)
	if err != nil {
		fmt.Fprintln(&text, err)
		return text.String(), 1
	}
	return text.String(), result.Code
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
