// Package report reads what the kernel's in-machine tests print.
//
// One line per event:
//
//	=== NAME              a case begins
//	# TEXT                a remark of the running case
//	ok NAME               verdict
//	FAIL NAME: WHY
//	skip NAME: WHY
//	leak: pages 10->10 slots 0->0 goroutines 4->4
//	12 passed, 0 failed, 1 skipped
//
// The last line is there only if the kernel ran to the end. Other lines are kept as remarks, since a
// crash in the middle of a line must not hide what follows.
package report

import (
	"fmt"
	"strconv"
	"strings"
)

// Verdict is how a case ended.
type Verdict string

const (
	OK         Verdict = "ok"
	Fail       Verdict = "FAIL"
	Skip       Verdict = "skip"
	Unfinished Verdict = "unfinished" // begun, and no verdict followed
)

// Case is one test of the kernel's.
type Case struct {
	Name    string
	Verdict Verdict
	Why     string
	Remarks []string
}

// Count is a resource before and after all cases.
type Count struct {
	Name          string
	Before, After int
}

// Report is the output of one run.
type Report struct {
	Cases    []Case
	Leaks    []Count // every resource of the leak line, leaked or not
	Summary  string  // the last line; "" if the run did not get there
	Mismatch string  // what the summary contradicts, or ""
}

// Parse reads the output of a run.
func Parse(out string) Report {
	var r Report
	for line := range strings.Lines(out) {
		r.add(strings.TrimRight(line, "\r\n"))
	}
	r.checkSummary()
	return r
}

func (r *Report) add(line string) {
	word, rest, _ := strings.Cut(line, " ")
	switch {
	case word == "===":
		r.Cases = append(r.Cases, Case{Name: rest, Verdict: Unfinished})
	case word == string(OK) || word == string(Fail) || word == string(Skip):
		r.judge(Verdict(word), rest)
	case word == "leak:":
		r.Leaks = parseLeaks(rest)
	case strings.Contains(line, " passed, ") && strings.HasSuffix(line, " skipped"):
		r.Summary = line
	case line != "" && len(r.Cases) > 0:
		last := &r.Cases[len(r.Cases)-1]
		last.Remarks = append(last.Remarks, strings.TrimPrefix(line, "# "))
	}
}

// judge sets the verdict of the case that runs, or adds one that never said it
// began.
func (r *Report) judge(v Verdict, rest string) {
	name, why, _ := strings.Cut(rest, ": ")
	if n := len(r.Cases); n > 0 && r.Cases[n-1].Name == name && r.Cases[n-1].Verdict == Unfinished {
		r.Cases[n-1].Verdict, r.Cases[n-1].Why = v, why
		return
	}
	r.Cases = append(r.Cases, Case{Name: name, Verdict: v, Why: why})
}

// parseLeaks reads "pages 10->10 slots 0->0".
func parseLeaks(s string) []Count {
	var counts []Count
	words := strings.Fields(s)
	for i := 0; i+1 < len(words); i += 2 {
		before, after, _ := strings.Cut(words[i+1], "->")
		b, err1 := strconv.Atoi(before)
		if a, err2 := strconv.Atoi(after); err1 == nil && err2 == nil {
			counts = append(counts, Count{words[i], b, a})
		}
	}
	return counts
}

func (r *Report) checkSummary() {
	if r.Summary == "" {
		return
	}
	count := map[Verdict]int{}
	for _, c := range r.Cases {
		count[c.Verdict]++
	}
	want := fmt.Sprintf("%d passed, %d failed, %d skipped", count[OK], count[Fail], count[Skip])
	if r.Summary != want || count[Unfinished] > 0 {
		r.Mismatch = fmt.Sprintf("seen %s, %d unfinished; the kernel says %s", want, count[Unfinished], r.Summary)
	}
}

// Leaked returns the resources of which there are more after than before.
func (r *Report) Leaked() []Count {
	var leaked []Count
	for _, c := range r.Leaks {
		if c.After > c.Before {
			leaked = append(leaked, c)
		}
	}
	return leaked
}
