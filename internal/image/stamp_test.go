package image

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestStampFits: whatever could make another image is noticed, and nothing else.
func TestStampFits(t *testing.T) {
	root := t.TempDir()
	put := func(name, text string) string {
		path := filepath.Join(root, name)
		os.MkdirAll(filepath.Dir(path), 0o755)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	put("go.mod", "module x\n")
	source, image := put("a/a.go", "package a\n"), put("build/x.elf", "image")
	elsewhere := t.TempDir()
	own, outside := filepath.Join(elsewhere, "own.go"), []string{elsewhere, filepath.Join(elsewhere, "sub", "go.mod")}
	os.WriteFile(own, []byte("package own\n"), 0o644)
	opts := BuildOptions{}
	fits := func() bool {
		s, err := opts.stamp(root, image)
		if err != nil {
			t.Fatal(err)
		}
		is := s.fits(image)
		if is && s.Version != "go1.99" {
			t.Errorf("version %q", s.Version)
		}
		if err := s.put("go1.99", outside, image); err != nil {
			t.Fatal(err)
		}
		return is
	}
	later := time.Now().Add(time.Hour)
	for _, c := range []struct {
		what   string
		change func()
		fits   bool
	}{
		{"the first time", func() {}, false},
		{"nothing", func() {}, true},
		{"a longer file", func() { put("a/a.go", "package a\n\n") }, false},
		{"a file of another time", func() { os.Chtimes(source, later, later) }, false},
		{"a new file", func() { put("a/b.go", "package a\n") }, false},
		{"a file that is embedded", func() { put("a/script.bt", "BEGIN { }\n") }, false},
		{"a file less", func() { os.Remove(filepath.Join(root, "a/b.go")) }, false},
		{"a test", func() { put("a/a_test.go", "package a\n") }, true},
		{"a page", func() { put("docs/page.md", "text\n") }, true},
		{"what is built", func() { put("build/other", "image") }, true},
		{"the linker's flags", func() { opts.LDFlags = []string{"-s"} }, false},
		{"build tags", func() { opts.Tags = []string{"other"} }, false},
		{"the environment of Go", func() { t.Setenv("GOEXPERIMENT", "none") }, false},
		{"another environment", func() { t.Setenv("COLUMNS", "80") }, true},
		{"a file elsewhere", func() { os.WriteFile(own, []byte("package OWN\n"), 0o644) }, false},
		{"a file elsewhere of another time", func() { os.Chtimes(own, later, later) }, true},
		{"a folder elsewhere", func() { os.Mkdir(filepath.Join(elsewhere, "sub"), 0o755) }, false},
		{"a module elsewhere", func() { os.WriteFile(outside[1], []byte("module own\n"), 0o644) }, false},
		{"a test elsewhere", func() { os.WriteFile(filepath.Join(elsewhere, "own_test.go"), nil, 0o644) }, true},
		{"the image", func() { put("build/x.elf", "other image") }, false},
	} {
		c.change()
		if got := fits(); got != c.fits {
			t.Errorf("%s: it fits: %v, want %v", c.what, got, c.fits)
		}
	}
}

// TestChangedWhileBuilding: what is saved while the build reads it gives no stamp.
func TestChangedWhileBuilding(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "own.go")
	if err := os.WriteFile(file, []byte("package own\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	paths := []string{folder, filepath.Join(folder, "go.mod")}
	began := time.Now().Add(time.Second)
	if changedSince(began, paths) {
		t.Error("a file from before")
	}
	if err := os.Chtimes(file, began, began.Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	if !changedSince(began, paths) {
		t.Error("a file that was saved meanwhile")
	}
}

// TestSecondBuildAsksNobody: the go command takes seconds to find out that nothing has changed.
func TestSecondBuildAsksNobody(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the image")
	}
	goCmd, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	script := fmt.Sprintf("#!/bin/sh\necho \"$*\" >> %s\nexec %s \"$@\"\n", log, goCmd)
	if err := os.WriteFile(filepath.Join(dir, "go"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	for i := range 2 {
		os.Remove(log)
		path, err := Build(BuildOptions{Tags: []string{"again"}, With: []string{"../../qemu/testdata/mistakes"}})
		if err != nil {
			t.Fatal(err)
		}
		defer os.Remove(path)
		defer os.Remove(path + ".raw")
		defer os.Remove(path + ".stamp")
		asked, _ := os.ReadFile(log)
		if i == 0 && !strings.Contains(string(asked), "build") || i == 1 && len(asked) > 0 {
			t.Errorf("build %d: go ran %q", i+1, asked)
		}
	}
}
