package suites

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

var added = regexp.MustCompile(`suites\.Add\("([^/"]+)/`)

// TestSuitesAreNamedAsTheirFolders: whoever reads the name of a case finds its file.
func TestSuitesAreNamedAsTheirFolders(t *testing.T) {
	files, err := filepath.Glob("*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range added.FindAllSubmatch(text, -1) {
			if n++; string(m[1]) != filepath.Dir(file) {
				t.Errorf("%s adds to suite %s", file, m[1])
			}
			if !bytes.Contains(doc, []byte("//\t"+filepath.Dir(file)+" ")) {
				t.Errorf("doc.go does not say what suite %s is about", m[1])
			}
		}
	}
	if n < 100 {
		t.Errorf("only %d cases were found", n)
	}
}
