package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestBeginAndReset does what make lab and make reset do, in a copy of what they need.
func TestBeginAndReset(t *testing.T) {
	root, dir := rootOf(t), t.TempDir()
	text, err := os.ReadFile(filepath.Join(root, "course", "lab.sh"))
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "course", "lab.sh"), string(text))
	writeFile(t, filepath.Join(dir, "course", "labs", "1", "README.md"), "# Lab 1\n\nThe task.\n\n```sonde run\ninsmod lab1\n```\n\n## How to work\n\nmake\n")
	writeFile(t, filepath.Join(dir, "course", "labs", "1", "starter", "lab1.go"), "package lab1\n")
	do := func(args ...string) string {
		out, err := exec.Command("sh", append([]string{filepath.Join(dir, "course", "lab.sh")}, args...)...).CombinedOutput()
		if (err == nil) != (len(args) == 2 && args[1] == "1") {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	mine := filepath.Join(dir, "lab", "1", "lab1.go")
	if out := do("begin", "1"); !strings.Contains(out, "The task.\n\n    insmod lab1\n") || strings.Contains(out, "How to work") {
		t.Errorf("%s", out)
	}
	writeFile(t, mine, "package mine\n")
	do("begin", "1")
	if text, _ := os.ReadFile(mine); string(text) != "package mine\n" {
		t.Error("beginning again has changed what was there")
	}
	if out := do("ask", "1"); !strings.Contains(out, "+package mine") {
		t.Errorf("%s", out)
	}
	do("reset", "1")
	do("reset", "1")
	if text, _ := os.ReadFile(mine); string(text) != "package lab1\n" {
		t.Error("reset has not put the starter back")
	}
	if text, _ := os.ReadFile(filepath.Join(dir, "lab", "1.saved-1", "lab1.go")); string(text) != "package mine\n" {
		t.Error("reset has not kept what was there")
	}
	do("begin", "7")
	do("begin")
}
