package docs

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// wrongInComments are signs of a comment that has to be rewritten.
var wrongInComments = []struct {
	sign *regexp.Regexp
	why  string
	trap bool // also in files of trap code
}{
	{regexp.MustCompile(`\bspec/\d`), "cite a document that readers have: docs/references.md", true},
	{regexp.MustCompile(`^Context: +(any )?goroutine\.?$`), "goroutine is the default context: leave the line out", false},
}

// wrongComments lists the lines of a Go or assembly source whose comments have such a sign.
func wrongComments(name, source string) (all []string) {
	number := 0
	for line := range strings.Lines(source) {
		number++
		_, comment, found := strings.Cut(line, "//")
		if !found {
			continue
		}
		for _, w := range wrongInComments {
			if strings.HasSuffix(name, "_trap.go") && !w.trap {
				continue
			}
			if found := w.sign.FindString(strings.TrimSpace(comment)); found != "" {
				all = append(all, fmt.Sprintf("%d: %q: %s", number, found, w.why))
			}
		}
	}
	return all
}

// TestComments looks for such signs in all sources.
func TestComments(t *testing.T) {
	files := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch ext := filepath.Ext(path); {
		case err != nil:
			return err
		case d.IsDir() && path != root && (d.Name() == "build" || d.Name()[0] == '.'):
			return fs.SkipDir
		case d.IsDir() || ext != ".go" && ext != ".s" || d.Name() == "comments_test.go":
			return nil
		}
		files++
		text, err := os.ReadFile(path)
		for _, w := range wrongComments(path, string(text)) {
			t.Errorf("%s:%s", strings.TrimPrefix(path, root+"/"), w)
		}
		return err
	})
	if err != nil || files < 500 {
		t.Fatalf("%d files: %v", files, err)
	}
}
