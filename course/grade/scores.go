package main

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// scores are the results of a run.
type scores struct {
	options
	lab     *Lab
	results []*Result
	aside   []string // files in the student's folder that were not looked at
	unbuilt string   // what the compiler says, if it does not build
	factor  float64
}

// sum returns the points and of how many.
func (s *scores) sum() (points, of int) {
	for _, r := range s.results {
		points += r.Points
		of += r.Test.Points
	}
	return points, of
}

// nameWidth is how wide the names of tests are printed.
const nameWidth = 62

// print prints the results for people.
func (s *scores) print(w io.Writer) {
	points, of := s.sum()
	what := "points you can see here"
	if s.hidden != "" || s.test != "" {
		what = "points"
	}
	fmt.Fprintf(w, "%-*s %d of %d %s\n", nameWidth, fmt.Sprintf("lab %d: %s", s.lab.N, s.lab.Title), points, of, what)
	if s.unbuilt != "" {
		fmt.Fprintf(w, "  it does not build:\n%s\n", indent(s.unbuilt, 4))
	} else {
		for _, r := range s.results {
			s.row(w, r)
		}
	}
	if len(s.aside) > 0 {
		fmt.Fprintf(w, "left aside: %s (only %s is graded)\n", few(s.aside), strings.Join(s.lab.Files, ", "))
	}
	if s.hidden == "" && s.test == "" && s.lab.Hidden != "" {
		fmt.Fprintf(w, "hidden, and not run here: %s\n", s.lab.Hidden)
	}
	if s.factor > 0 {
		fmt.Fprintf(w, "machine: %.2f of the reference's speed, so limits are %.1f times as long\n", 1/s.factor, s.factor*margin)
	}
}

// row prints a test, and what is to be done if it has failed.
func (s *scores) row(w io.Writer, r *Result) {
	fmt.Fprintf(w, "  %-6s%-*s %d/%d\n", cmp.Or(map[Outcome]string{OK: "ok"}[r.Outcome], "FAIL"), nameWidth-2, r.Test.Name, r.Points, r.Test.Points)
	if r.Outcome == OK {
		return
	}
	line := func(key, text string) {
		fmt.Fprintf(w, "        %-9s %s\n", key, strings.TrimLeft(indent(text, 18), " "))
	}
	if r.Outcome != Fail {
		line("outcome", string(r.Outcome))
	}
	line("expected", r.Expected)
	line("got", r.Got)
	for i, l := range r.Tail {
		line(map[bool]string{true: "last", false: ""}[i == 0], l)
	}
	if read := one(r.Test.Story, "READ"); read != "" {
		line("read", read)
	}
	if !r.Test.Hidden {
		line("again", fmt.Sprintf("make grade LAB=%d TEST=%s", s.lab.N, r.Test.ID))
	}
	if r.Log != "" {
		line("log", near(r.Log))
	}
}

// near returns a path as seen from here, if that is shorter.
func near(path string) string {
	if wd, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(wd, path); err == nil && len(rel) < len(path) {
			return rel
		}
	}
	return path
}

func indent(text string, by int) string {
	pad := strings.Repeat(" ", by)
	return pad + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+pad)
}

// few joins the first names of a list.
func few(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// write writes the files that were asked for.
func (s *scores) write() error {
	var errs []error
	if s.json != "" {
		text, err := json.MarshalIndent(s.gradescope(), "", "  ")
		errs = append(errs, err, os.WriteFile(s.json, append(text, '\n'), 0o644))
	}
	if s.csv != "" {
		errs = append(errs, s.appendCSV())
	}
	return errors.Join(errs...)
}

// A tested is a test in the file that -json writes; the last three fields are Gradescope's.
type tested struct {
	Test     string  `json:"test"`
	Points   int     `json:"points"`
	Of       int     `json:"of"`
	Outcome  Outcome `json:"outcome"`
	Expected string  `json:"expected,omitempty"`
	Got      string  `json:"got,omitempty"`
	Seconds  float64 `json:"seconds"`

	Name       string `json:"name"`
	Score      int    `json:"score"`
	MaxScore   int    `json:"max_score"`
	Output     string `json:"output"`
	Visibility string `json:"visibility"`
}

func (s *scores) gradescope() any {
	points, of := s.sum()
	all := struct {
		Lab    int      `json:"lab"`
		Points int      `json:"points"`
		Of     int      `json:"of"`
		Score  int      `json:"score"`
		Tests  []tested `json:"tests"`
	}{s.lab.N, points, of, points, []tested{}}
	for _, r := range s.results {
		var row strings.Builder
		s.row(&row, r)
		visibility := "visible"
		if r.Test.Hidden {
			visibility = "after_due_date"
		}
		all.Tests = append(all.Tests, tested{
			r.Test.ID, r.Points, r.Test.Points, r.Outcome, r.Expected, r.Got, r.Seconds,
			r.Test.Name, r.Points, r.Test.Points, row.String(), visibility,
		})
	}
	return all
}

// appendCSV adds a line for each test, and the heading to a new file.
func (s *scores) appendCSV() error {
	f, err := os.OpenFile(s.csv, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	w := csv.NewWriter(f)
	if info, err := f.Stat(); err == nil && info.Size() == 0 {
		w.Write([]string{"folder", "lab", "test", "points", "of", "outcome"})
	}
	for _, r := range s.results {
		w.Write([]string{s.in, strconv.Itoa(s.lab.N), r.Test.ID, strconv.Itoa(r.Points), strconv.Itoa(r.Test.Points), string(r.Outcome)})
	}
	w.Flush()
	return w.Error()
}
