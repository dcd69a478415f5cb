package main

import (
	"archive/zip"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestGradescope makes an autograder, unpacks it into a folder as Gradescope does, and grades a submission by the script
// that Gradescope runs. In brief, the submission does not build, so that no kernel is needed.
func TestGradescope(t *testing.T) {
	if testing.Short() {
		t.Skip("copies the tree, and builds")
	}
	root, at := rootOf(t), t.TempDir()
	file := filepath.Join(t.TempDir(), "grader.zip")
	script := func(args ...string) (string, error) {
		out, err := exec.Command(filepath.Join(root, "course", "gradescope.sh"), args...).CombinedOutput()
		return string(out), err
	}
	if out, err := script("1", file, "autumn"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, c := range [][]string{{"1", file}, {"99", file + "x"}, {"1"}} {
		if out, err := script(c...); err == nil || !strings.Contains(out, "exists") && !strings.Contains(out, "usage") {
			t.Errorf("%q: %v\n%s", c, err, out)
		}
	}
	unzip(t, file, filepath.Join(at, "source"))
	for name, there := range map[string]bool{"setup.sh": true, "tree/course/hidden/1.story": true, "tree/course/solutions": false, "tree/course/wrong": false} {
		if _, err := os.Stat(filepath.Join(at, "source", name)); (err == nil) != there {
			t.Errorf("%s: %v", name, err)
		}
	}
	grade := func(text string) (score, tests int) {
		t.Helper()
		writeFile(t, filepath.Join(at, "submission", "lab1.go"), text)
		cmd := exec.Command(filepath.Join(at, "source", "run_autograder"))
		cmd.Env = append(os.Environ(), "AUTOGRADER="+at)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		var results struct {
			Score int
			Tests []struct{ Output string }
		}
		said, err := os.ReadFile(filepath.Join(at, "results", "results.json"))
		if err == nil {
			err = json.Unmarshal(said, &results)
		}
		if err != nil {
			t.Fatal(err)
		}
		return results.Score, len(results.Tests)
	}
	l := lab1(t)
	if score, tests := grade("package lab1\nfun\n"); score != 0 || tests != len(testsOf(t, l, "autumn", l.Module)) {
		t.Errorf("what does not build gets %d points in %d tests", score, tests)
	}
	if brief() {
		return
	}
	if score, _ := grade(l.solution(t)["lab1.go"]); score != 8 {
		t.Errorf("the solution gets %d points", score)
	}
}

// unzip unpacks a file.
func unzip(t *testing.T, file, to string) {
	t.Helper()
	r, err := zip.OpenReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, f := range r.File {
		path := filepath.Join(to, f.Name)
		if f.FileInfo().IsDir() {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(in)
		in.Close()
		if err == nil {
			err = os.WriteFile(path, text, f.Mode().Perm())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
