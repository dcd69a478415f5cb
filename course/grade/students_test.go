package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestStudentsCopy: a class's repository has one commit, its name, and no line of what students must
// not have.
func TestStudentsCopy(t *testing.T) {
	if testing.Short() {
		t.Skip("copies the tree")
	}
	root, dir := rootOf(t), filepath.Join(t.TempDir(), "class")
	script := filepath.Join(root, "course", "students.sh")
	if out, err := exec.Command(script, dir, "autumn").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := exec.Command(script, dir, "autumn").CombinedOutput(); err == nil || !strings.Contains(string(out), "exists") {
		t.Errorf("into a folder that exists: %v\n%s", err, out)
	}
	if out, err := exec.Command("git", "-C", dir, "rev-list", "--all", "--count").Output(); err != nil || string(out) != "1\n" {
		t.Errorf("commits: %s %v", out, err)
	}
	if class, _ := os.ReadFile(filepath.Join(dir, "course", "class.txt")); string(class) != "autumn\n" {
		t.Errorf("class %q", class)
	}
	secret := secrets(t, root)
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		text, err := os.ReadFile(path)
		for line := range strings.Lines(string(text)) {
			if from, found := secret[strings.TrimSpace(line)]; found {
				t.Errorf("%s has a line of %s: %s", path, from, line)
			}
		}
		return err
	})
	if err != nil || files < 1000 || len(secret) < 10 {
		t.Errorf("%d files, %d lines: %v", files, len(secret), err)
	}
}

// secrets are a line or more of each file that students must not have: lines that no page of the lab,
// no starter and no example has, nor the kernel itself, which decides what lab 5 is about.
func secrets(t *testing.T, root string) map[string]string {
	t.Helper()
	public := ""
	for _, pattern := range []string{"course/labs/*/*", "course/labs/*/starter/*", "examples/*", "docs/*", "kprobes/*", "optprobe/*", "probe/attach/places/*", "ktest/mutants/*"} {
		files, _ := filepath.Glob(filepath.Join(root, pattern))
		for _, f := range files {
			text, _ := os.ReadFile(f)
			public += string(text)
		}
	}
	secret := map[string]string{}
	for _, pattern := range []string{"course/solutions/*/*", "course/hidden/*", "course/wrong/*"} {
		files, _ := filepath.Glob(filepath.Join(root, pattern))
		for _, f := range files {
			text, _ := os.ReadFile(f)
			for line := range strings.Lines(string(text)) {
				if line = strings.TrimSpace(line); len(line) > 35 && !strings.Contains(public, line) {
					secret[line] = f
				}
			}
		}
	}
	return secret
}
