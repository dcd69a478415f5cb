package main

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// A marked lab is one lab of one student, graded.
type marked struct {
	Points, Of int
	Worst      string // outcome, "" if all tests have passed
}

// gradeAll grades the labs of all students: what is in DIR/NAME/N is lab N of a student. It writes a
// page for each student, NAME.txt, and points.csv, and prints the table. What was graded before and has
// not changed since is not graded again, so that a run that was stopped continues.
//
// Errors: ErrBusy; the folder cannot be read.
func gradeAll(o options, w io.Writer) error {
	students, err := os.ReadDir(o.all)
	if err != nil {
		return err
	}
	labs, err := o.labs()
	if err != nil {
		return err
	}
	table := [][]string{append(append([]string{"student"}, headings(labs)...), "sum", "worst")}
	for _, s := range students {
		if !s.IsDir() {
			continue
		}
		row, err := o.student(s.Name(), labs)
		if err != nil {
			return err
		}
		table = append(table, row)
	}
	write(w, table)
	f, err := os.Create(filepath.Join(o.out, "points.csv"))
	if err != nil {
		return err
	}
	return errors.Join(csv.NewWriter(f).WriteAll(table), f.Close())
}

// labs returns the numbers of the labs to grade: that of -lab, or all.
func (o *options) labs() (labs []int, err error) {
	if o.lab > 0 {
		return []int{o.lab}, nil
	}
	paths, err := filepath.Glob(filepath.Join(o.root, "course", "labs", "*", "lab.txt"))
	for _, p := range paths {
		if n, err := strconv.Atoi(filepath.Base(filepath.Dir(p))); err == nil {
			labs = append(labs, n)
		}
	}
	slices.Sort(labs)
	return labs, err
}

func headings(labs []int) (words []string) {
	for _, n := range labs {
		words = append(words, "lab "+strconv.Itoa(n))
	}
	return words
}

// student grades the labs of a student, and returns the row of the table.
func (o *options) student(name string, labs []int) ([]string, error) {
	row, page, sum, worst := []string{name}, "", 0, ""
	if strings.ContainsFunc(name, unicode.IsControl) {
		row[0] = strconv.Quote(name) // it would look like several lines of the table
	}
	for _, n := range labs {
		in := filepath.Join(o.all, name, strconv.Itoa(n))
		if _, err := os.Lstat(in); err != nil {
			row = append(row, "-")
			continue
		}
		m, text, err := o.one(name, n, in)
		if err != nil {
			return nil, err
		}
		sum += m.Points
		worst = cmp.Or(worst, m.Worst)
		row = append(row, strconv.Itoa(m.Points))
		page += text + "\n"
	}
	err := os.WriteFile(filepath.Join(o.out, name+".txt"), []byte(page), 0o644)
	return append(row, strconv.Itoa(sum), worst), err
}

// one grades a lab of a student, or finds that it was graded. What cannot be graded gets no points, and
// the page says why; only a busy machine ends the run.
func (o *options) one(name string, n int, in string) (m marked, page string, err error) {
	own := *o
	own.lab, own.in, own.out = n, in, filepath.Join(o.out, name, strconv.Itoa(n))
	kept := filepath.Join(own.out, "marked.json")
	if info, err := os.Stat(kept); err == nil && !changedSince(in, info.ModTime()) {
		text, _ := os.ReadFile(kept)
		said, err := os.ReadFile(kept + ".txt")
		if err == nil && json.Unmarshal(text, &m) == nil {
			return m, string(said), nil
		}
	}
	if err := os.MkdirAll(own.out, 0o755); err != nil {
		return m, "", err
	}
	s, err := own.gradeFolder()
	var b bytes.Buffer
	switch {
	case errors.Is(err, ErrBusy):
		return m, "", err
	case err != nil:
		m.Worst = "not graded"
		fmt.Fprintf(&b, "lab %d: not graded: %v\n", n, err)
	default:
		s.print(&b)
		m.Points, m.Of = s.sum()
		m.Worst = s.worst()
	}
	text, err := json.Marshal(m)
	return m, b.String(), errors.Join(err, os.WriteFile(kept+".txt", b.Bytes(), 0o644), os.WriteFile(kept, text, 0o644))
}

// gradeFolder grades a folder that is a student's own: a link might lead to that of somebody else.
func (o options) gradeFolder() (*scores, error) {
	if info, err := os.Lstat(o.in); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("%s is not a folder", o.in)
	}
	return grade(o)
}

// changedSince reports whether a file in a folder is newer than a time.
func changedSince(dir string, when time.Time) (changed bool) {
	filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil {
			info, infoErr := d.Info()
			changed = changed || infoErr == nil && info.ModTime().After(when)
		}
		return nil
	})
	return changed
}

// worst returns the outcome that says most about what has gone wrong.
func (s *scores) worst() (w string) {
	order := []Outcome{OK, Fail, Abandoned, TooLong, Crashed, NoBuild}
	at := 0
	for _, r := range s.results {
		at = max(at, slices.Index(order, r.Outcome))
	}
	if at > 0 {
		w = fmt.Sprintf("lab %d: %s", s.lab.N, order[at])
	}
	return w
}

// write writes a table for people.
func write(w io.Writer, table [][]string) {
	widths := make([]int, len(table[0]))
	for _, row := range table {
		for i, cell := range row {
			widths[i] = max(widths[i], len(cell))
		}
	}
	for _, row := range table {
		line := ""
		for i, cell := range row {
			line += fmt.Sprintf("%-*s  ", widths[i], cell)
		}
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
}
