package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sonde/qemu/initrd"
)

// In lab 8, a student's instrument is a module or a script of bt, and the question that it answers is one
// of several. A line "measure COMMAND" in a test's script runs the command with the instrument, and
// {answer.question} stands for the question.
const (
	measured      = "measure "
	askedQuestion = "{answer.question}"
)

// workloads are the questions for which package load has a workload.
var workloads = []string{"garbage", "locks", "waits", "wakes"}

// unknown says what is wrong with the question, "" if it has a workload.
func (a answers) unknown() (expected, got string) {
	if slices.Contains(workloads, a["question"]) {
		return "", ""
	}
	got = strconv.Quote(a["question"])
	if got == `""` {
		got = `nothing after "question:"`
	}
	return fmt.Sprintf("a question that a program can check: %s; others are graded by a person", strings.Join(workloads, ", ")), got
}

// readScript puts the student's script of bt into the archive, if there is anything in it.
func (g *grader) readScript(dir string) error {
	if g.lab.Script == "" {
		return nil
	}
	path := filepath.Join(dir, g.lab.Script)
	text, err := os.ReadFile(path)
	if err != nil || !says(string(text)) {
		return err
	}
	var archive initrd.Archive
	if err := archive.Add(path + ":/" + g.lab.Script); err != nil {
		return err
	}
	g.script = true
	g.programs.archive = path + ".cpio"
	out, err := os.Create(g.programs.archive)
	if err != nil {
		return err
	}
	defer out.Close()
	_, err = archive.WriteTo(out)
	return err
}

// says reports whether a script has more than comments.
func says(script string) bool {
	for line := range strings.Lines(script) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
			return true
		}
	}
	return false
}

// refusedScript is what bt says against the student's script, with its place; "" if it has none.
func (g *grader) refusedScript(stdout string) string {
	for line := range strings.Lines(stdout) {
		if at, what, found := strings.Cut(strings.TrimSpace(line), " ERROR: "); found && g.script && strings.HasPrefix(at, "/"+g.lab.Script+":") {
			return at[1:] + " " + what
		}
	}
	return ""
}

// measure puts the instrument around the commands that a script measures, and the question where it is asked.
func (g *grader) measure(script string) string {
	lines := strings.Split(strings.ReplaceAll(script, askedQuestion, g.answers["question"]), "\n")
	for i, line := range lines {
		command, ok := strings.CutPrefix(line, measured)
		switch {
		case ok && g.script:
			lines[i] = fmt.Sprintf("bt -q -c '%s' /%s", command, g.lab.Script)
		case ok:
			lines[i] = fmt.Sprintf("insmod %s; %s; rmmod %s", g.module, command, g.module)
		}
	}
	return strings.Join(lines, "\n")
}

// amount is a line of an answer: "lab8: load.Till 1200", or what bt prints of a map, "@ns[load.Till]: 1200".
var amount = regexp.MustCompile(`^(?:(\w+): |@\w*\[)\S*?(\w+)(?:\+\w+)?(?: |\]: )(\d+)$`)

// amounts checks that what the workload reports as amount.NAME is in the output, up to some percent.
func (g *grader) amounts(t *Test, lines []string, work report) (expected, got string) {
	percent, err := strconv.Atoi(one(t.Story, "AMOUNTS"))
	if err != nil {
		return "", ""
	}
	found := map[string]int{}
	for _, line := range lines {
		if m := amount.FindStringSubmatch(line); m != nil && (m[1] == "" || m[1] == g.module) {
			n, _ := strconv.Atoi(m[3])
			found[m[2]] += n
		}
	}
	for _, key := range slices.Sorted(maps.Keys(work.values)) {
		name, ok := strings.CutPrefix(key, "amount.")
		if !ok {
			continue
		}
		want, _ := strconv.Atoi(work.values[key])
		if is := found[name]; want == 0 || 100*max(want-is, is-want) > percent*want {
			got = fmt.Sprintf("%s: %d", name, is)
			if is == 0 {
				got += fmt.Sprintf("; there are numbers of %q", slices.Sorted(maps.Keys(found)))
			}
			return fmt.Sprintf("%s: %d, up to %d %%", name, want, percent), got
		}
	}
	return "", ""
}

// budget checks that a measured cost is within what the student has named, in a line "answer {work.x} MOST".
func (a answers) budget(asked string, known map[string]string) (expected, got string) {
	f := strings.Fields(asked)
	if len(f) != 3 {
		return "", ""
	}
	cost, err1 := strconv.Atoi(known[strings.Trim(f[1], "{}")])
	most, _ := strconv.Atoi(f[2])
	named, err2 := strconv.Atoi(a[f[0]])
	if err1 != nil || err2 != nil || named > most || cost > named {
		return fmt.Sprintf("a %s of at most %d instructions, and a cost within it", f[0], most), fmt.Sprintf("%s: %s; the cost is %d", f[0], a[f[0]], cost)
	}
	return "", ""
}
