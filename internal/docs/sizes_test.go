package docs

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestReadmeCountsLines holds the sizes of folders that README gives, "`kernel/` (22,000)":
// right to a tenth.
func TestReadmeCountsLines(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("`(\\w+)/`\\s+\\((\\d+),(\\d{3})\\)").FindAllStringSubmatch(string(text), -1)
	if len(found) < 4 {
		t.Fatalf("README gives the sizes of %d folders, want 4", len(found))
	}
	for _, f := range found {
		says, err := strconv.Atoi(f[2] + f[3])
		if err != nil {
			t.Fatal(err)
		}
		if is := sizeOf(t, f[1]); is < says*9/10 || is > says*11/10 {
			t.Errorf("%s/ has %d lines, README says %d", f[1], is, says)
		}
	}
}

// sizeOf counts the lines of Go and assembly in a folder, without tests and what they read.
func sizeOf(t *testing.T, folder string) (n int) {
	err := filepath.WalkDir(filepath.Join(root, folder), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "testdata":
			return fs.SkipDir
		case strings.HasSuffix(path, "_test.go"), !strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, ".s"):
			return nil
		}
		b, err := os.ReadFile(path)
		n += bytes.Count(b, []byte{'\n'})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestFilesAreShort: no file of Go or assembly has more than 400 lines.
func TestFilesAreShort(t *testing.T) {
	n := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && (name == "build" || name == "testdata" || name == ".git"):
			return fs.SkipDir
		case !strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, ".s"):
			return nil
		}
		b, err := os.ReadFile(path)
		if lines := bytes.Count(b, []byte{'\n'}); lines > 400 {
			t.Errorf("%s has %d lines", path, lines)
		}
		n++
		return err
	})
	if err != nil || n < 1000 {
		t.Errorf("%d files, %v", n, err)
	}
}
