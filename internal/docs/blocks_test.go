package docs

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A block is code, output or a drawing on a page. The word after its fence says which, and so
// what holds it:
//
//	go               Go, which TestGoCompiles compiles
//	output TestNAME  what a run prints; that test compares it, and takes it by shownBy
//	drawing          a picture, in which nothing is quoted
//	config           what goes into a file or a command line of something else
//	json             the same, if it is JSON
//	""               indented, no fence: commands to type, each of a known program
type block struct {
	page string
	line int // of its first
	kind string
	text string
}

func (b block) String() string { return fmt.Sprintf("%s:%d", b.page, b.line) }

// blocksOf splits a page into its blocks.
func blocksOf(page, text string) (all []block) {
	var open *block
	blank := true
	for i, line := range strings.Split(text, "\n") {
		rest := strings.TrimLeft(line, " ")
		kind, fence := strings.CutPrefix(rest, "```")
		indented := strings.HasPrefix(line, "    ") && rest != ""
		switch {
		case open != nil && open.kind != "" && !fence:
			open.text += line + "\n"
		case open != nil && open.kind != "":
			all, open = append(all, *open), nil
		case fence:
			if kind == "" {
				kind = "nothing"
			}
			open = &block{page, i + 2, kind, ""}
		case open != nil && indented:
			open.text += rest + "\n"
		case open != nil:
			all, open = append(all, *open), nil
		case indented && blank:
			open = &block{page, i + 1, "", rest + "\n"}
		}
		blank = rest == ""
	}
	return all
}

var (
	outputKind = regexp.MustCompile(`^output (Test\w+)$`)
	command    = regexp.MustCompile(`^(go|make|mkdir|dd|diff|find|gopls) `)
)

// wrong says what is wrong with a block, "" if nothing is. tests are the names of the tests of
// package qemu that take blocks from the pages.
func (b block) wrong(tests []string) string {
	switch m := outputKind.FindStringSubmatch(b.kind); {
	case m != nil && !slices.Contains(tests, m[1]):
		return "qemu has no test " + m[1] + " that calls shownBy"
	case m != nil || b.kind == "go" || b.kind == "drawing" || b.kind == "config":
		return ""
	case b.kind == "json":
		if !json.Valid([]byte(b.text)) {
			return "this is not JSON"
		}
		return ""
	case b.kind != "":
		return "a fence must say what it holds: go, output TestNAME, drawing, config or json; it says " + b.kind
	}
	for line := range strings.Lines(b.text) {
		if !command.MatchString(strings.TrimSpace(line) + " ") {
			return "an indented line is a command to type; this is none: " + strings.TrimSpace(line)
		}
	}
	return ""
}

// pageBlocks are the blocks of all pages.
func pageBlocks(t *testing.T) (all []block) {
	t.Helper()
	for _, path := range append(pages(t), filepath.Join(root, "boot", "overlay", "README.md")) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		page, err := filepath.Rel(root, path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, blocksOf(filepath.ToSlash(page), string(text))...)
	}
	return all
}

// testsThatCompare are the tests of package qemu that call shownBy.
func testsThatCompare(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "qemu", "*_test.go"))
	if err != nil || len(files) == 0 {
		t.Fatal("no tests in qemu: ", err)
	}
	begin := regexp.MustCompile(`(?m)^func (\w+)`)
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		at := begin.FindAllSubmatchIndex(text, -1)
		for i, m := range at {
			end := len(text)
			if i+1 < len(at) {
				end = at[i+1][0]
			}
			if strings.Contains(string(text[m[0]:end]), "shownBy(t)") {
				names = append(names, string(text[m[2]:m[3]]))
			}
		}
	}
	return names
}

// TestBlocksAreHeld: each block of each page is checked by a test, or says that it is no output.
func TestBlocksAreHeld(t *testing.T) {
	tests, all := testsThatCompare(t), pageBlocks(t)
	for _, b := range all {
		if why := b.wrong(tests); why != "" {
			t.Errorf("%v: %s\n%s", b, why, b.text)
		}
	}
	if len(all) < 40 {
		t.Errorf("only %d blocks were read", len(all))
	}
}

func TestBlocksThatNothingHoldsAreFound(t *testing.T) {
	const text = "x:\n\n    go run ./qemu\n    make\n\n    sonde# ls\n\ny\n    not code\n\n```\nplain\n```\n\n" +
		"1. x\n\n   ```output TestThis\n   1\n   ```\n\n```output TestThat\n2\n```\n\n```json\n{\n```\n\n```go\nvar x int\n\n    x\n```\n"
	var got []string
	for _, b := range blocksOf("p", text) {
		why, _, _ := strings.Cut(b.wrong([]string{"TestThis"}), ":")
		got = append(got, fmt.Sprint(b.line, " ", why))
	}
	want := []string{"3 ", "6 an indented line is a command to type; this is none", "12 a fence must say what it holds", "18 ",
		"22 qemu has no test TestThat that calls shownBy", "26 this is not JSON", "30 "}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
