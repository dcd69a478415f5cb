package docs

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReadingOrder: the files that docs/tree.md says to read are there, and are short.
func TestReadingOrder(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "tree.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(page), "\n## Reading order\n")
	found := regexp.MustCompile("(?m)^[0-9]+\\. `([^`]+)`: .+\\.$").FindAllStringSubmatch(list, -1)
	if len(found) != 20 {
		t.Errorf("%d files with a sentence, want 20", len(found))
	}
	sum := 0
	for _, f := range found {
		text, err := os.ReadFile(filepath.Join(root, f[1]))
		if err != nil {
			t.Error(err)
		}
		sum += bytes.Count(text, []byte("\n"))
	}
	if t.Logf("%d lines", sum); sum >= 3500 {
		t.Errorf("they have %d lines", sum)
	}
}
