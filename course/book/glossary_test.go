package book

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

var term = regexp.MustCompile(`(?m)^\| (.+?) \| .* \| chapter (\d+) \|$`)

// TestGlossary: the words of the glossary are in order, each once, and the chapter that is named has the word.
func TestGlossary(t *testing.T) {
	text, err := os.ReadFile("c-glossary.md")
	if err != nil {
		t.Fatal(err)
	}
	terms, before := term.FindAllStringSubmatch(string(text), -1), ""
	if len(terms) < 40 {
		t.Errorf("%d words", len(terms))
	}
	for _, m := range terms {
		if strings.ToLower(m[1]) <= before {
			t.Errorf("%s is not behind %s", m[1], before)
		}
		before = strings.ToLower(m[1])
		var n int
		fmt.Sscan(m[2], &n)
		chapter := strings.ToLower(strings.Join(strings.Fields(chapters(t)[n].text), " "))
		for word := range strings.SplitSeq(before, ", ") {
			if !strings.Contains(chapter, word) {
				t.Errorf("chapter %d does not have %q", n, word)
			}
		}
	}
}
