package docs

import (
	"fmt"
	"go/parser"
	"go/token"
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
	{regexp.MustCompile(`\b(to|for|from|by|against) who \w|\bWho (waits|changes|calls|wants|asks|stays|holds|writes|reads)\b|of his own\b`), "who is for people: the caller that, the code that", true},
	{regexp.MustCompile(`\bdearer\b|\bin vain\b|\bfor want of\b|^Needed (is|are)\b`), "say it in plain words: more expensive, without result, for lack of", true},
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

// sourcePath is the path of a file of this tree, as comments name it.
var sourcePath = regexp.MustCompile(`(?:^|[\s("])((?:arch|boot|docs|kallsyms|kernel|kprobes|kwatch|optprobe|probe|qemu|shell|sysctl|uprobes|user)/[\w/]+\.(?:go|s|md))\b`)

// missingFiles lists the files of this tree that comments of a source name and that are not there.
func missingFiles(source string) (all []string) {
	for line := range strings.Lines(source) {
		if _, comment, found := strings.Cut(line, "//"); found {
			for _, m := range sourcePath.FindAllStringSubmatch(comment, -1) {
				if _, err := os.Stat(filepath.Join(root, m[1])); err != nil {
					all = append(all, m[1])
				}
			}
		}
	}
	return all
}

// TestComments looks for such signs in all sources, and for names of files that are not there.
func TestComments(t *testing.T) {
	files := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch ext := filepath.Ext(path); {
		case err != nil:
			return err
		case d.IsDir() && path != root && (d.Name() == "build" || d.Name() == "lab" || d.Name()[0] == '.'):
			return fs.SkipDir
		case d.IsDir() || ext != ".go" && ext != ".s" || d.Name() == "comments_test.go":
			return nil
		}
		files++
		text, err := os.ReadFile(path)
		for _, w := range wrongComments(path, string(text)) {
			t.Errorf("%s:%s", strings.TrimPrefix(path, root+"/"), w)
		}
		for _, name := range missingFiles(string(text)) {
			t.Errorf("%s names %s, which is not there", strings.TrimPrefix(path, root+"/"), name)
		}
		return err
	})
	if err != nil || files < 500 {
		t.Fatalf("%d files: %v", files, err)
	}
}

// TestDocFilesHaveNoCode: doc.go is the package comment; code is in files that say what it is.
func TestDocFilesHaveNoCode(t *testing.T) {
	n := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "doc.go" {
			return err
		}
		n++
		tree, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err == nil && len(tree.Decls) > 0 {
			t.Errorf("%s has code", path)
		}
		return err
	})
	if err != nil || n < 20 {
		t.Errorf("%d files, %v", n, err)
	}
}
