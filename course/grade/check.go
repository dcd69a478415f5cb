package main

import (
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"
)

// report is what the workload has reported, by key.
type report struct {
	values map[string]string
	done   int // workloads that have ended
}

// facts reads what came from the workload's port. If a key has two values, someone else has written
// there; doubt is that key.
func facts(text string) (r report, doubt string) {
	r.values = map[string]string{}
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimRight(line, "\r\n"), " ")
		if key == "done" || strings.HasSuffix(key, ".done") {
			r.done++
			key += " " + value
		}
		if old, ok := r.values[key]; ok && (old != value || strings.Contains(key, "done")) {
			doubt = key
		}
		r.values[key] = value
	}
	return r, doubt
}

var (
	fact  = regexp.MustCompile(`\{work\.([\w.]+)\}`)
	stamp = regexp.MustCompile(`^\[ *\d+\.\d+\] `)
	digit = regexp.MustCompile(`\d+`)
)

// compare says what was expected and what came instead; nothing if all is right.
func (g *grader) compare(t *Test, o *output, work report) (expected, got string) {
	var lines []string
	for line := range strings.Lines(string(o.Stdout)) {
		lines = append(lines, stamp.ReplaceAllString(strings.TrimRight(line, "\r\n"), ""))
	}
	known := maps.Clone(g.fault)
	if known == nil {
		known = map[string]string{}
	}
	for key, value := range work.values {
		known["work."+key] = value
	}
	if expected, got = g.answers.compare(t.More["ANSWER"], known); expected != "" {
		return expected, got
	}
	if expected, got = g.answers.near(t.More["NEAR"], known); expected != "" {
		return expected, got
	}
	if expected, got = g.answers.budget(one(t.Story, "BUDGET"), known); expected != "" {
		return expected, got
	}
	for _, few := range t.More["FEWER"] {
		if expected, got = fewer(lines, few, known); expected != "" {
			return expected, got
		}
	}
	for _, want := range t.More["TRUE"] {
		f := strings.SplitN(want+"  ", " ", 3)
		if is := work.values[f[0]]; is != f[1] {
			what := strings.TrimSpace(f[2])
			if _, err := strconv.Atoi(is); err == nil {
				is += " " + what
			}
			return f[1] + " " + what, is
		}
	}
	for _, want := range t.More["WANT"] {
		want = fact.ReplaceAllStringFunc(want, func(p string) string { return work.values[p[6:len(p)-1]] })
		if near, ok := find(lines, want); !ok {
			return want, near
		}
	}
	for _, re := range t.ExpectNot {
		for _, line := range lines {
			if re.MatchString(line) {
				return fmt.Sprintf("no line that fits %q", re), line
			}
		}
	}
	if expected, got = g.amounts(t, lines, work); expected != "" {
		return expected, got
	}
	if expected, got = g.followed(t, lines, work); expected != "" {
		return expected, got
	}
	if keys := strings.Fields(one(t.Story, "BETWEEN")); len(keys) == 2 {
		if expected, got = g.between(lines, work, keys[0], keys[1]); expected != "" {
			return expected, got
		}
	}
	if wrong := t.Check(string(o.Stdout), string(o.Log), o.Status); len(wrong) > 0 {
		return "a run as in the test", wrong[0]
	}
	return "", ""
}

// fewer checks that the last line that begins as a test says, "{work.x} BEGINNING", continues with a number
// that is less than that of the workload, and not 0.
func fewer(lines []string, test string, known map[string]string) (expected, got string) {
	key, beginning, _ := strings.Cut(test, " ")
	most, _ := strconv.Atoi(known[strings.Trim(key, "{}")])
	got = "no such line"
	n := 0
	for _, line := range lines {
		if rest, ok := strings.CutPrefix(line, beginning+" "); ok {
			got = line
			n, _ = strconv.Atoi(rest)
		}
	}
	if n <= 0 || n >= most {
		return fmt.Sprintf("%s N, with N below %d", beginning, most), got
	}
	return "", ""
}

// find reports whether there is such a line; near is one that differs from it in numbers only, or
// else one that begins alike.
func find(lines []string, want string) (near string, ok bool) {
	near = "no such line"
	shape := digit.ReplaceAllString(want, "N")
	first, _, _ := strings.Cut(shape, " ")
	for _, line := range lines {
		if line == want {
			return line, true
		}
		is := digit.ReplaceAllString(line, "N")
		if is == shape || near == "no such line" && first != "" && strings.HasPrefix(is, first+" ") {
			near = line
		}
	}
	return near, false
}

// between compares a histogram, of lines "lab3: 2^17 25", with two of the workload: how long each
// call took by itself, and how long its caller waited. What a probe measures lies between them for
// each call, so that of any duration there are at least as many shorter calls as the callers saw,
// and at most as many as the calls themselves did.
func (g *grader) between(lines []string, work report, in, out string) (expected, got string) {
	row := regexp.MustCompile(`^` + regexp.QuoteMeta(g.module) + `: 2\^(\d+) (\d+)$`)
	var theirs, inside, outside [64]int
	for _, line := range lines {
		if m := row.FindStringSubmatch(line); m != nil {
			k, _ := strconv.Atoi(m[1])
			if k > 63 {
				return "rows from 2^0 to 2^63", line
			}
			n, _ := strconv.Atoi(m[2])
			theirs[k] += n
		}
	}
	for k := range 64 {
		inside[k], _ = strconv.Atoi(work.values[fmt.Sprintf("%s.%d", in, k)])
		outside[k], _ = strconv.Atoi(work.values[fmt.Sprintf("%s.%d", out, k)])
	}
	least, most, have := 0, 0, 0
	for k := range 64 {
		least, most, have = least+outside[k], most+inside[k], have+theirs[k]
		if have < least || have > most {
			calls := strconv.Itoa(least)
			if most != least {
				calls = fmt.Sprintf("%d to %d", least, most)
			}
			return fmt.Sprintf("%s calls of less than 2^%d ns", calls, k+1), strconv.Itoa(have)
		}
	}
	return "", ""
}
