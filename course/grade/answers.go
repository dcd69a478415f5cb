package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"sonde/course/load/fault"
)

// answers are what a student has found out, by the name of the question: the lines "name: answer" of
// a file. If a question has two answers, it has none.
type answers map[string]string

// readAnswers reads the answers of a lab from the folder with the files that were taken.
func (l *Lab) readAnswers(dir string) answers {
	a := answers{}
	text, _ := os.ReadFile(filepath.Join(dir, l.Answer)) // a lab without any has none
	twice := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		key, value, ok := strings.Cut(line, ":")
		key = strings.TrimSpace(key)
		if line[0] == '#' || !ok {
			continue
		}
		if _, twice[key] = a[key]; twice[key] {
			value = "more than one answer"
		}
		a[key] = strings.TrimSpace(value)
	}
	return a
}

var (
	seed  = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	other = regexp.MustCompile(`[^a-z0-9]+`)
)

// doubt says what is wrong with the seed, "" if it may be typed.
func (a answers) doubt(class string) (expected, got string) {
	want := "a seed of small letters, digits and hyphens, such as autumn-4711"
	class = strings.Trim(other.ReplaceAllString(strings.ToLower(class), "-"), "-")
	if class != "" {
		want = fmt.Sprintf("a seed that begins with %s-, then your number", class)
	}
	s := a["seed"]
	if !seed.MatchString(s) || len(s) > 40 || class != "" && !strings.HasPrefix(s, class+"-") {
		return want, strconv.Quote(s)
	}
	return "", ""
}

// compare checks the answers that a test asks for, in lines "ANSWER name value words"; known are the
// values that tests may name. What was expected is said in words only.
func (a answers) compare(asked []string, known map[string]string) (expected, got string) {
	if none := a.missing(asked); len(none) > 0 {
		return "an answer to each question of this test", "none to " + strings.Join(none, ", ")
	}
	for _, line := range asked {
		f := strings.SplitN(line+"  ", " ", 3)
		want := placed.ReplaceAllStringFunc(f[1], func(p string) string { return known[p[1:len(p)-1]] })
		if is := a[f[0]]; is != want || want == "" {
			return strings.TrimSpace(f[2]), f[0] + ": " + is
		}
	}
	return "", ""
}

// missing are the questions of a test without an answer.
func (a answers) missing(asked []string) (names []string) {
	for _, line := range asked {
		if name, _, _ := strings.Cut(line, " "); a[name] == "" {
			names = append(names, name)
		}
	}
	return names
}

// near checks answers that are numbers, in lines "NEAR name value percent words".
func (a answers) near(asked []string, known map[string]string) (expected, got string) {
	for _, line := range asked {
		f := strings.SplitN(line+"   ", " ", 4)
		want, err1 := strconv.Atoi(known[strings.Trim(f[1], "{}")])
		percent, err2 := strconv.Atoi(f[2])
		is, err3 := strconv.Atoi(a[f[0]])
		if off := max(want-is, is-want); err1 != nil || err2 != nil || err3 != nil || want <= 0 || 100*off > percent*want {
			return fmt.Sprintf("%s, within %s %%", strings.TrimSpace(f[3]), f[2]), fmt.Sprintf("%s: %s", f[0], a[f[0]])
		}
	}
	return "", ""
}

var placed = regexp.MustCompile(`\{(work|fault)\.[\w.]+\}`)

// about returns what is known of the fault that a seed stands for, for "{fault.name}" in tests.
func about(root, seed string) (map[string]string, error) {
	f := fault.Of(seed)
	path := filepath.Join("course", "load", "post_tamago.go")
	line, err := lineOf(filepath.Join(root, path), f.Code)
	return map[string]string{
		"fault.function": f.Function, "fault.cause": f.Cause, "fault.line": fmt.Sprintf("post_tamago.go:%d", line),
		"fault.every": strconv.Itoa(f.Every), "fault.first": strconv.Itoa(f.First),
	}, err
}

// lineOf returns the number of the line that is, without indentation, as given.
func lineOf(path, code string) (int, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	for n := 1; in.Scan(); n++ {
		if strings.TrimSpace(in.Text()) == code {
			return n, nil
		}
	}
	return 0, fmt.Errorf("%s: %w: no line %q", path, ErrLab, code)
}
