package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sonde/course/blocks"
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
	gradesAfterPush(t, dir)
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

// gradesAfterPush: the repository's one workflow, and its file for GitLab, run the script that grades each lab that is begun, with tools
// that only say what they are asked. Labs can be committed.
func gradesAfterPush(t *testing.T, dir string) {
	t.Helper()
	flows, _ := filepath.Glob(filepath.Join(dir, ".github", "workflows", "*"))
	if len(flows) != 1 {
		t.Fatalf("workflows: %q", flows)
	}
	if text, err := os.ReadFile(flows[0]); err != nil || !strings.Contains(string(text), "\n    runs-on: ubuntu-") || !strings.HasSuffix(string(text), "- run: course/ci.sh\n") {
		t.Errorf("%v\n%s", err, text)
	}
	if text, err := os.ReadFile(filepath.Join(dir, ".gitlab-ci.yml")); err != nil || !strings.HasSuffix(string(text), "  script:\n    - course/ci.sh\n") {
		t.Errorf("%v\n%s", err, text)
	}
	tools := t.TempDir()
	const says = "#!/bin/sh\n[ $1 = run ] || { echo go version go1.26 x; exit; }\necho $*\n[ $4 != 3 ]\n"
	for name, text := range map[string]string{"go": says, "qemu-system-x86_64": "#!/bin/sh\n"} {
		if err := os.WriteFile(filepath.Join(tools, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ begin, want string }{
		{"", "no lab is begun: make lab LAB=1\n0"},
		{"1", "== lab 1\nrun ./course/grade -lab 1\n0"},
		{"3", "== lab 1\nrun ./course/grade -lab 1\n== lab 3\nrun ./course/grade -lab 3\n1"},
	} {
		if err := os.MkdirAll(filepath.Join(dir, "lab", c.begin), 0o755); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("sh", "-c", "course/ci.sh; echo $?; [ ! -d lab/1 ] || ! git check-ignore -q lab/1/x.go")
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "PATH="+tools+":"+os.Getenv("PATH"))
		if out, err := cmd.CombinedOutput(); err != nil || string(out) != c.want+"\n" {
			t.Errorf("%v, got:\n%swant:\n%s", err, out, c.want)
		}
	}
}

// secrets are a line or more of each file that students must not have: lines that no page of the lab,
// no starter and no example has, nor the kernel itself, which decides what lab 5 is about.
func secrets(t *testing.T, root string) map[string]string {
	t.Helper()
	public := ""
	for _, pattern := range []string{"course/book/*", "course/labs/*/*", "course/labs/*/starter/*", "examples/*", "docs/*", "kprobes/*", "optprobe/*", "probe/attach/places/*", "ktest/mutants/*"} {
		files, _ := filepath.Glob(filepath.Join(root, pattern))
		for _, f := range files {
			text, _ := os.ReadFile(f)
			public += string(text)
		}
	}
	secret := map[string]string{}
	for _, pattern := range []string{"course/solutions/*/*", "course/hidden/*", "course/wrong/*", "course/slides/*"} {
		files, _ := filepath.Glob(filepath.Join(root, pattern))
		for _, f := range files {
			text, _ := os.ReadFile(f)
			quoted := ""
			for _, b := range blocks.Read(f, string(text)) {
				if b.Option("file") != "" { // the solution of an exercise shows a file of the tree
					quoted += strings.Join(b.Text, "\n")
				}
			}
			for line := range strings.Lines(string(text)) {
				if line = strings.TrimSpace(line); len(line) > 35 && !strings.Contains(public+quoted, line) {
					secret[line] = f
				}
			}
		}
	}
	return secret
}
