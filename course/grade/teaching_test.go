package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// coursePage returns the text of a page about the course.
func coursePage(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(rootOf(t), "course", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// sectionsOf returns what stands below each heading of the second level.
func sectionsOf(text string) map[string]string {
	all := map[string]string{}
	for _, part := range strings.Split(text, "\n## ")[1:] {
		head, body, _ := strings.Cut(part, "\n")
		all[head] = body
	}
	return all
}

// rowsOf returns the cells of each row of tables, and those of the headings.
func rowsOf(text string) (rows [][]string) {
	for line := range strings.Lines(text) {
		if cells := strings.Split(strings.TrimSpace(line), "|"); len(cells) > 2 && !strings.HasPrefix(line, "|---") {
			for i := range cells {
				cells[i] = strings.TrimSpace(cells[i])
			}
			rows = append(rows, cells[1:len(cells)-1])
		}
	}
	return rows
}

// numbersOf returns the numbers of a cell, "3, 4", "3 to 5".
func numbersOf(cell string) (list []int) {
	for part := range strings.SplitSeq(cell, ",") {
		from, to, span := strings.Cut(strings.TrimSpace(part), " to ")
		a, err := strconv.Atoi(from)
		if err != nil {
			continue
		}
		b := a
		if span {
			b, _ = strconv.Atoi(to)
		}
		for ; a <= b; a++ {
			list = append(list, a)
		}
	}
	return list
}

// numbered returns the numbers with which the names of files begin.
func numbered(t *testing.T, pattern string) (list []int) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(rootOf(t), "course", pattern))
	if err != nil || len(paths) == 0 {
		t.Fatal("none in", pattern, err)
	}
	for _, p := range paths {
		digits, _, _ := strings.Cut(filepath.Base(p), "-")
		n, err := strconv.Atoi(digits)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, n)
	}
	slices.Sort(list)
	return list
}

// TestPlans: the plans by week name what is there, in an order that can be taught.
func TestPlans(t *testing.T) {
	chapters, decks, labs := numbered(t, "book/[0-9]*-*.md"), numbered(t, "slides/[0-9]*-*.md"), numbered(t, "labs/[0-9]*")
	deckOf, needs := map[int]int{}, map[int][]int{} // the chapter of a deck, the chapters of a lab
	for _, row := range rowsOf(sectionsOf(coursePage(t, "INSTRUCTOR.md"))["The lectures"]) {
		if n, err := strconv.Atoi(strings.Fields(row[0])[0]); err == nil {
			deckOf[n] = numbersOf(row[1])[0]
		}
	}
	for _, row := range rowsOf(coursePage(t, "README.md")) {
		if m := regexp.MustCompile(`^\[(\d)\]`).FindStringSubmatch(row[0]); m != nil {
			n, _ := strconv.Atoi(m[1])
			needs[n] = numbersOf(row[4])
		}
	}
	if len(deckOf) != len(decks) || len(needs) != len(labs) {
		t.Fatalf("decks %v, labs %v", deckOf, needs)
	}
	plans := sectionsOf(coursePage(t, "plans.md"))
	for name, whole := range map[string]bool{"14 weeks": true, "12 weeks": true, "7 weeks": false} {
		weeks := rowsOf(plans[name])
		if n, _ := strconv.Atoi(strings.Fields(name)[0]); len(weeks) != n+1 {
			t.Errorf("%s: %d weeks", name, len(weeks)-1)
			continue
		}
		var read, shown, begun, handedIn []int
		for _, w := range weeks[1:] {
			read, shown = append(read, numbersOf(w[1])...), append(shown, numbersOf(w[2])...)
			for _, d := range numbersOf(w[2]) {
				if !slices.Contains(numbersOf(w[1]), deckOf[d]) {
					t.Errorf("%s, week %s: deck %d is not of a chapter of that week", name, w[0], d)
				}
			}
			for _, n := range numbersOf(w[4]) {
				for _, c := range needs[n] {
					if !slices.Contains(read, c) {
						t.Errorf("%s, week %s: lab %d begins before chapter %d", name, w[0], n, c)
					}
				}
			}
			for _, n := range numbersOf(w[5]) {
				if !slices.Contains(begun, n) {
					t.Errorf("%s, week %s: lab %d is handed in and has not begun", name, w[0], n)
				}
			}
			begun, handedIn = append(begun, numbersOf(w[4])...), append(handedIn, numbersOf(w[5])...)
			inLecture(t, name, w)
		}
		for what, lists := range map[string][2][]int{"chapters": {read, chapters}, "decks": {shown, decks}, "labs": {begun, labs}, "labs with points": {handedIn, labs[1:]}} {
			got := slices.Sorted(slices.Values(lists[0]))
			if whole && !slices.Equal(got, lists[1]) {
				t.Errorf("%s: %s %v, there are %v", name, what, got, lists[1])
			}
			if !slices.Equal(got, slices.Compact(slices.Clone(got))) || slices.ContainsFunc(got, func(n int) bool { return !slices.Contains(lists[1], n) }) {
				t.Errorf("%s: %s %v, there are %v", name, what, got, lists[1])
			}
		}
		if !whole && !strings.Contains(plans[name], strconv.Itoa(pointsOf(t, handedIn))+" points") {
			t.Errorf("%s: labs %v have %d points", name, handedIn, pointsOf(t, handedIn))
		}
	}
}

// inLecture: the exercises of a week are to predict, and of its chapters.
func inLecture(t *testing.T, plan string, week []string) {
	t.Helper()
	for id := range strings.SplitSeq(week[3], ", ") {
		if id == "" {
			continue
		}
		chapter, _, _ := strings.Cut(id, ".")
		n, _ := strconv.Atoi(chapter)
		if !slices.Contains(numbersOf(week[1]), n) {
			t.Errorf("%s, week %s: exercise %s is of another chapter", plan, week[0], id)
		}
		found := false
		paths, _ := filepath.Glob(filepath.Join(rootOf(t), "course", "book", "[0-9]*-*.md"))
		for _, p := range paths {
			text, _ := os.ReadFile(p)
			found = found || strings.Contains(string(text), "Exercise "+id+" (predict)\n")
		}
		if !found {
			t.Errorf("%s, week %s: there is no exercise %s to predict", plan, week[0], id)
		}
	}
}

// pointsOf adds the points of labs, by the table for students.
func pointsOf(t *testing.T, labs []int) (sum int) {
	for _, row := range rowsOf(coursePage(t, "README.md")) {
		if m := regexp.MustCompile(`^\[(\d)\]`).FindStringSubmatch(row[0]); m != nil {
			if n, _ := strconv.Atoi(m[1]); slices.Contains(labs, n) {
				points, _ := strconv.Atoi(row[2])
				sum += points
			}
		}
	}
	return sum
}

// TestPoints: points.md has each test with its points, and each wrong solution, and no other.
func TestPoints(t *testing.T) {
	sections := sectionsOf(coursePage(t, "points.md"))
	span := regexp.MustCompile("`([a-zA-Z'-]+)`")
	for _, l := range labsHere(t) {
		name := "Lab " + strconv.Itoa(l.N)
		var tests, wrong []string
		for _, row := range rowsOf(sections[name]) {
			switch {
			case row[2] == "seen in":
			case regexp.MustCompile(`^\d+$`).MatchString(row[1]):
				tests = append(tests, row[0]+" "+row[1])
			case row[1] != "points":
				for _, m := range span.FindAllStringSubmatch(row[2], -1) {
					wrong = append(wrong, m[1])
				}
			}
		}
		var are, wrongAre []string
		for _, test := range testsOf(t, l, "", l.Module) {
			is := "`" + test.ID + "`"
			if test.Hidden {
				is += " (hidden)"
			}
			are = append(are, is+" "+strconv.Itoa(test.Points))
		}
		for _, v := range l.wrong(t) {
			wrongAre = append(wrongAre, v.name)
		}
		same(t, name+": tests and points", tests, are)
		same(t, name+": wrong solutions", wrong, wrongAre)
	}
}

// same: two lists have the same words, in any order.
func same(t *testing.T, what string, page, tree []string) {
	t.Helper()
	slices.Sort(page)
	slices.Sort(tree)
	for _, w := range page {
		if !slices.Contains(tree, w) {
			t.Errorf("%s: the page has %s, the tree has not", what, w)
		}
	}
	for _, w := range tree {
		if !slices.Contains(page, w) {
			t.Errorf("%s: %s is not on the page", what, w)
		}
	}
	if len(page) != len(tree) {
		t.Errorf("%s: %d on the page, %d in the tree", what, len(page), len(tree))
	}
}
