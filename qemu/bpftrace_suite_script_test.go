package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// kinds are which of bpftrace's runtime tests are run, by SONDE_BPFTRACE_KIND, and how many must pass.
var kinds = map[string]struct {
	takes func(c *testCase) bool
	least int
}{
	"":        {(*testCase).concernsLanguage, 450},
	"uprobes": {func(c *testCase) bool { return programProbes.MatchString(c.script()) }, 120},
	"kprobes": {func(c *testCase) bool { return kernelProbes.MatchString(c.script()) && !c.concernsLanguage() }, 29},
}

var (
	programProbes = regexp.MustCompile(`\b(uprobe|uretprobe|u|ur):`)
	kernelProbes  = regexp.MustCompile(`\b(kprobe|kretprobe|k|kr|tracepoint|t|rawtracepoint|rt):`)
)

// library is what the tests of programs need of a shell: the number of a process by its name, and to end a
// program that would continue.
const library = `cd /
pid_of() {
  for p in /proc/[0-9]*; do
    read c < $p/comm
    if [ "$c" = "$1" ]; then echo ${p#/proc/}; fi
  done | head -n 1
}
limited() {
  i=0
  while [ $i -lt 20 ] && [ -n "$(pid_of $1)" ]; do sleep 0.1; i=$((i+1)); done
  if [ -n "$(pid_of $1)" ]; then kill -KILL $(pid_of $1); fi
}
`

// save writes what the test needs to a folder, and adds the commands that run it to the file run.sh.
func (c *testCase) save(t *testing.T, folder string) {
	write := func(name, text string, how int) {
		f, err := os.OpenFile(filepath.Join(folder, name), how|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		fmt.Fprint(f, text)
	}
	if c.number == 0 {
		write("library.sh", library, os.O_TRUNC)
		write("run.sh", ". /bt/library.sh\n", os.O_TRUNC)
	}
	write(fmt.Sprint(c.number), c.first("PROG"), os.O_TRUNC)
	write(fmt.Sprint(c.number, ".sh"), ". /bt/library.sh\n"+c.along(), os.O_TRUNC)
	write("run.sh", c.commands(), os.O_APPEND)
}

var (
	testProgram = regexp.MustCompile(`\./testprogs/([\w-]+)`)
	listing     = regexp.MustCompile(`\{\{BPFTRACE\}\}[^|]* -l`)
	intervals   = regexp.MustCompile(`\b(i|interval|p|profile):`)
	alongOption = regexp.MustCompile(` -c ('[^']*'|"[^"]*"|\S+)`)
)

// along are the commands along with which the script runs: that of -c, or what is to run once it has begun.
func (c *testCase) along() string {
	after := c.first("AFTER")
	if m := alongOption.FindStringSubmatch(c.first("RUN")); m != nil {
		after = strings.Trim(m[1], `'"`)
	}
	if after == "" {
		return "sleep 3\n"
	}
	all := testProgram.FindAllStringSubmatch(after, -1)
	if all == nil {
		return after + "\nsleep 0.3\n"
	}
	return fmt.Sprintf("%s &\nsleep 0.3; limited %.15s\n", after, all[len(all)-1][1])
}

// commands are the lines by which a shell runs the test, from the folder /bt.
func (c *testCase) commands() string {
	before, after := "", ""
	if b := c.first("BEFORE"); b != "" {
		name := filepath.Base(strings.Fields(b)[0])
		before, after = fmt.Sprintf("%s > /dev/null & sleep 0.5; PID=$(pid_of %.15s)\n", b, name), fmt.Sprintf("limited %.15s\n", name)
	}
	return fmt.Sprintf("echo '@@ %d'\n%s%s 2>&1\necho \"@@ status $?\"\n%s", c.number, before, c.command(), after)
}

// command is the command of a test.
func (c *testCase) command() string {
	meanwhile := fmt.Sprintf(" -c 'sh /bt/%d.sh'", c.number)
	if c.concernsLanguage() && !intervals.MatchString(c.script()) { // it ends by itself
		meanwhile = ""
	}
	bt := "bt --unsafe"
	for pair := range strings.FieldsSeq(c.first("ENV")) {
		if strings.HasPrefix(pair, "BPFTRACE_") {
			bt += " --config " + pair
		}
	}
	if run := alongOption.ReplaceAllString(c.first("RUN"), ""); run != "" {
		if !listing.MatchString(run) {
			bt += meanwhile
		}
		return strings.NewReplacer("{{BPFTRACE}}", bt, "{{BEFORE_PID}}", "$PID").Replace(run)
	}
	if c.first("EXPECT_JSON") != "" {
		bt += " -q -f json"
	}
	return fmt.Sprintf("%s%s /bt/%d", bt, meanwhile, c.number)
}

// logged is what it said on the machine, and with which status it ended, by the output of run.sh.
func (c *testCase) logged(log string) (string, int) {
	_, part, found := strings.Cut(strings.ReplaceAll(log, "\r", ""), fmt.Sprintf("@@ %d\n", c.number))
	text, rest, ended := strings.Cut(part, "@@ status ")
	if !found || !ended {
		return "it has not run\n", 1
	}
	status, _, _ := strings.Cut(rest, "\n")
	text = strings.ReplaceAll(text, fmt.Sprintf("/bt/%d:", c.number), "stdin:")
	return text, map[bool]int{true: 1}[status != "0"]
}
