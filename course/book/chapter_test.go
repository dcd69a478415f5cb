package book

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sonde/course/blocks"
)

const (
	root      = "../.."
	solutions = "../solutions/book"
)

// A page is a chapter, or the solutions of its exercises.
type page struct {
	name   string // 03-one-hit.md
	dir    string
	text   string
	blocks []blocks.Block
}

// chapters are all chapters, in order; appendices are what follows them.
func chapters(t *testing.T) []page   { return pagesOf(t, ".") }
func appendices(t *testing.T) []page { return pagesLike(t, ".", "[b-e]-*.md") }

func pagesOf(t *testing.T, dir string) []page { return pagesLike(t, dir, "[0-9][0-9]-*.md") }

// pagesLike returns the pages in a folder whose names fit a pattern.
func pagesLike(t *testing.T, dir, pattern string) (all []page) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(files) == 0 {
		t.Fatal("no pages in ", dir, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(file)
		all = append(all, page{name, dir, string(text), blocks.Read(filepath.Join(dir, name), string(text))})
	}
	return all
}

// section returns the text below a heading that begins with these words, up to the next heading of its level.
func (p page) section(begins string) string {
	_, text, found := strings.Cut(p.text, "\n## "+begins)
	if !found {
		return ""
	}
	text, _, _ = strings.Cut(text, "\n## ")
	return text
}

// sectionsOf are the sections that each chapter has, in this order.
var sectionsOf = []string{"You will be able to", "Files", "Experiment: ", "What can go wrong", "How Linux does it", "Exercises"}

var (
	item     = regexp.MustCompile(`(?m)^\d\. (?:.+\n)(?:   .+\n)*`)
	exercise = regexp.MustCompile(`(?m)^##+ Exercise (\d+\.\d)( \((?:predict|read|change|find|break)\))?$`)
	names    = regexp.MustCompile(`exercises? ((?:\d+\.\d(?:, | and )?)+)`)
	number   = regexp.MustCompile(`\d+\.\d`)
)

// exercises returns the numbers of the exercises that have a heading.
func (p page) exercises() (all []string) {
	for _, m := range exercise.FindAllStringSubmatch(p.text, -1) {
		all = append(all, m[1])
	}
	return all
}

// wrong says what a chapter lacks.
func (p page) wrong() (all []string) {
	at := 0
	for _, s := range sectionsOf {
		i := strings.Index(p.text[at:], "\n## "+s)
		if i < 0 {
			all = append(all, "no section "+s+", or not there")
			continue
		}
		at += i
	}
	exercises := p.exercises()
	if len(exercises) < 3 || len(exercises) > 5 {
		all = append(all, "there are to be three to five exercises, each with its kind")
	}
	goals := item.FindAllString(p.section("You will be able to"), -1)
	if len(goals) != 3 {
		all = append(all, "there are to be three goals")
	}
	tested := map[string]bool{}
	for _, g := range goals {
		list := names.FindStringSubmatch(strings.Join(strings.Fields(g), " "))
		if list == nil {
			all = append(all, "no exercise for the goal: "+g)
			continue
		}
		for _, n := range number.FindAllString(list[1], -1) {
			if tested[n] = true; !slices.Contains(exercises, n) {
				all = append(all, "a goal names an exercise that is not there: "+n)
			}
		}
	}
	for _, n := range exercises {
		if !tested[n] {
			all = append(all, "no goal names exercise "+n)
		}
	}
	if !hasBlock(p.section("Experiment: "), "match=counts", "match=exact") {
		all = append(all, "the experiment compares no count")
	}
	if !hasBlock(p.section("What can go wrong"), "match=") {
		all = append(all, "what can go wrong has no message")
	}
	if !strings.Contains(p.section("How Linux does it"), "§") {
		all = append(all, "how Linux does it names no section of a document")
	}
	return all
}

// hasBlock reports whether a text has a block whose head has one of these words.
func hasBlock(text string, words ...string) bool {
	return slices.ContainsFunc(blocks.Read("", text), func(b blocks.Block) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(strings.Join(b.Head, " "), w) })
	})
}

// TestChapters: each chapter is whole, and each exercise has a solution that is checked.
func TestChapters(t *testing.T) {
	for _, p := range chapters(t) {
		for _, w := range p.wrong() {
			t.Errorf("%s: %s", p.name, w)
		}
		text, err := os.ReadFile(filepath.Join(solutions, p.name))
		if err != nil {
			t.Error(err)
			continue
		}
		solved := page{text: string(text)}
		if got := solved.exercises(); !slices.Equal(got, p.exercises()) {
			t.Errorf("%s: solutions of %q, exercises %q", p.name, got, p.exercises())
		}
		for _, n := range solved.exercises() {
			if !hasBlock(solved.section("Exercise "+n), "match=", "file=") {
				t.Errorf("%s: nothing checks the solution of %s", p.name, n)
			}
		}
	}
}

// TestBlocks: each block says what holds it.
func TestBlocks(t *testing.T) {
	for _, p := range checked(t) {
		var before blocks.Block
		for _, b := range p.blocks {
			if why := b.Wrong(before, root); why != "" {
				t.Errorf("%v: %s", b, why)
			}
			if text := strings.Join(b.Text, "\n"); b.Kind() == "text" && measured.MatchString(text) {
				t.Errorf("%v: a drawing may not hold an address, a time, or the prompt", b)
			}
			before = b
		}
	}
}

var measured = regexp.MustCompile(`0x[0-9a-f]{5}|[0-9a-f]{12}|\d [nuµm]s\b|sonde#`)

func TestWrongChaptersAreFound(t *testing.T) {
	good := chapters(t)[0]
	for change, want := range map[[2]string]string{
		{"## What can go wrong", "## Else"}:                      "no section What can go wrong",
		{"match=counts", "match=shape"}:                          "the experiment compares no count",
		{"§", "section"}:                                         "names no section",
		{"### Exercise", "### Task"}:                             "three to five exercises",
		{"(exercise", "(task"}:                                   "no exercise for the goal",
		{"\n1. ", "\n- "}:                                        "three goals",
		{"(exercises " + good.exercises()[0], "(exercises 77.7"}: "a goal names an exercise that is not there: 77.7",
		{"### Exercise " + good.exercises()[0], "### "}:          "not there: " + good.exercises()[0],
	} {
		bad := good
		bad.text = strings.ReplaceAll(good.text, change[0], change[1])
		if got := strings.Join(bad.wrong(), "\n"); !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", change, got, want)
		}
	}
	if got := good.wrong(); got != nil {
		t.Errorf("%q", got)
	}
}
