package docs

import (
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

// width is at which column the prose of a page is wrapped.
const width = 100

// wide returns the lines of prose in a page that are longer than width. Tables, commands and blocks
// are as wide as they must be.
func wide(text string) (all []string) {
	block := false
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(strings.TrimLeft(line, " "), "```"):
			block = !block
		case block, strings.HasPrefix(line, "|"), strings.HasPrefix(line, "    "):
		case utf8.RuneCountInString(line) > width:
			all = append(all, line)
		}
	}
	return all
}

// TestProseIsWrapped leaves out docs/proof.md, which a program writes.
func TestProseIsWrapped(t *testing.T) {
	for _, name := range pages(t) {
		if strings.HasSuffix(name, "docs/proof.md") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range wide(string(text)) {
			t.Errorf("%s: more than %d columns: %s", name, width, line)
		}
	}
}

func TestWideLines(t *testing.T) {
	long := strings.Repeat("µ", width+1)
	text := "| " + long + "\n    " + long + "\n```\n" + long + "\n```\n- " + long + "\n" + long[2:] + "\n"
	if got := wide(text); len(got) != 1 || got[0] != "- "+long {
		t.Errorf("wide lines: %q", got)
	}
}
