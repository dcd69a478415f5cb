package main

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A tree is a request as a module prints it: a line for the request and one for each call, which begins
// with two spaces more than that of its caller. Each line ends in ": 0 to 94210 ns".
type tree struct {
	lines []string // without the times
	spans [][2]int64
}

// A sent request is what the program says about one: its tree, and for how many nanoseconds its function ran
// and its caller waited.
type sent struct {
	tree            string // lines with semicolons between them
	inside, outside int64
}

var (
	timed     = regexp.MustCompile(`^(.*): (\d+) to (\d+) ns$`)
	restarted = regexp.MustCompile(`^  \w+ 0$`)
)

// trees reads what a module has printed. A line that is no part of a tree is left out if it has no times; so is
// a system call that returned 0, with what it called: the programs make none that does, so it was interrupted,
// and another one follows.
func (g *grader) trees(lines []string) (all []*tree) {
	left := false // out, with the system call
	for _, line := range lines {
		line, ours := strings.CutPrefix(line, g.module+": ")
		m := timed.FindStringSubmatch(line)
		if !ours || m == nil {
			continue
		}
		if line[0] != ' ' || len(all) == 0 {
			all = append(all, &tree{})
		}
		if !strings.HasPrefix(line, "   ") {
			left = restarted.MatchString(m[1])
		}
		if left {
			continue
		}
		last := all[len(all)-1]
		from, _ := strconv.ParseInt(m[2], 10, 64)
		to, _ := strconv.ParseInt(m[3], 10, 64)
		last.lines, last.spans = append(last.lines, m[1]), append(last.spans, [2]int64{from, to})
	}
	return all
}

func (t *tree) String() string { return strings.Join(t.lines, ";") }

// requests returns those of a function that the program reports.
func requests(work report, function string) (all []sent) {
	for i := 1; ; i++ {
		line, ok := work.values[fmt.Sprintf("line%d", i)]
		if !ok {
			return all
		}
		if f := strings.SplitN(line, " ", 4); len(f) == 4 && f[0] == function {
			inside, _ := strconv.ParseInt(f[1], 10, 64)
			outside, _ := strconv.ParseInt(f[2], 10, 64)
			all = append(all, sent{f[3], inside, outside})
		}
	}
}

// followed checks the trees that a test asks for.
func (g *grader) followed(t *Test, lines []string, work report) (expected, got string) {
	if f := one(t.Story, "TREES"); f != "" {
		expected, got = sameTrees(g.trees(lines), requests(work, f))
	}
	if f := one(t.Story, "NESTED"); f != "" && expected == "" {
		expected, got = nested(g.trees(lines), requests(work, f))
	}
	return expected, got
}

// sameTrees checks that the trees that were printed are those of the requests, each once.
func sameTrees(printed []*tree, want []sent) (expected, got string) {
	if len(want) == 0 {
		return "requests that the program reports", "none"
	}
	left := slices.Clone(printed)
	for _, w := range want {
		at := slices.IndexFunc(left, func(t *tree) bool { return t.String() == w.tree })
		if at < 0 {
			return lined(w.tree), nearest(left, w.tree)
		}
		left = slices.Delete(left, at, at+1)
	}
	if len(left) > 0 {
		return fmt.Sprintf("%d trees", len(want)), fmt.Sprintf("%d, one of them\n%s", len(printed), lined(left[0].String()))
	}
	return "", ""
}

// nearest is the tree that begins like another: what became of it.
func nearest(printed []*tree, want string) string {
	head, _, _ := strings.Cut(want, ";")
	for _, beginning := range []string{head, strings.Join(strings.Fields(head)[:min(2, len(strings.Fields(head)))], " ") + " "} {
		for _, t := range printed {
			if strings.HasPrefix(t.String(), beginning) {
				return lined(t.String())
			}
		}
	}
	return fmt.Sprintf("no such tree; %d others", len(printed))
}

func lined(tree string) string { return strings.ReplaceAll(tree, ";", "\n") }

// nested checks times: those of calls lie in those of their callers and do not overlap with each other, and
// a request lasts longer than its function ran, and less long than its caller waited.
func nested(printed []*tree, want []sent) (expected, got string) {
	for _, t := range printed {
		if line := t.unnested(); line != "" {
			return "times that lie within those of the caller, after those of the call before", lined(t.timed()) + "\nsee " + line
		}
		at := slices.IndexFunc(want, func(w sent) bool { return w.tree == t.String() })
		if at < 0 {
			continue
		}
		if took := t.spans[0][1]; took < want[at].inside || took > want[at].outside {
			return fmt.Sprintf("from 0 to between %d and %d ns", want[at].inside, want[at].outside), t.timed()
		}
	}
	return "", ""
}

// unnested returns the first line whose times are not as they must be.
func (t *tree) unnested() string {
	var within [][2]int64 // the callers, and how far each has been used up
	for i, line := range t.lines {
		depth := (len(line) - len(strings.TrimLeft(line, " "))) / 2
		span := t.spans[i]
		if depth > len(within) || span[0] > span[1] || depth == 0 && span[0] != 0 {
			return line
		}
		if within = within[:depth]; depth > 0 {
			caller := &within[depth-1]
			if span[0] < caller[0] || span[1] > caller[1] {
				return line
			}
			caller[0] = span[1]
		}
		within = append(within, span)
	}
	return ""
}

func (t *tree) timed() string {
	var lines []string
	for i, line := range t.lines {
		lines = append(lines, fmt.Sprintf("%s: %d to %d ns", line, t.spans[i][0], t.spans[i][1]))
	}
	return strings.Join(lines, "\n")
}
