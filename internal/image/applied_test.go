package image

import (
	"os"
	"path/filepath"
	"testing"
)

func TestApply(t *testing.T) {
	dir := t.TempDir()
	write := func(path string) string {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(path), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	same, untouched := write("from/src/a/same.go"), write("from/src/b/c/untouched.go")
	write("from/src/a/changed.go")
	changed, added, folder := write("o/changed.go"), write("o/added.go"), write("o/folder.go")
	view := filepath.Join(dir, "view")
	if err := apply(filepath.Join(dir, "from"), view, map[string]string{
		"src/a/changed.go": changed, "src/a/added.go": added, "src/a/new/folder.go": folder}); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"src/a/same.go": same, "src/b/c/untouched.go": untouched,
		"src/a/changed.go": changed, "src/a/added.go": added, "src/a/new/folder.go": folder,
	} {
		if got, err := os.ReadFile(filepath.Join(view, path)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v, want %q", path, got, err, want)
		}
	}
	if _, err := os.Readlink(filepath.Join(view, "src/b")); err != nil {
		t.Errorf("a folder without changes is copied: %v", err)
	}
}
