package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sonde/qemu/machine"
)

// TestOtherHosts: the grader compiles where the launcher does (go test ./internal/release). In the long run,
// go vet for Windows finds nothing.
func TestOtherHosts(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the standard library for other systems")
	}
	for _, host := range []string{"darwin/arm64", "windows/amd64"} { // one with Unix's calls, and one without
		goos, goarch, _ := strings.Cut(host, "/")
		commands := [][]string{{"build", "-trimpath", "-o", t.TempDir(), "../course/grade"}}
		if long() && goos == "windows" {
			commands = append(commands, []string{"vet", "../..."})
		}
		for _, args := range commands {
			cmd := exec.Command("go", args...)
			cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", host, err, out)
			}
		}
	}
}

// TestContainer: the container installs what README.md says, and what make run installs.
func TestContainer(t *testing.T) {
	text, err := os.ReadFile("../course/Containerfile")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), "apt install golang make") {
		t.Error("README.md installs something else: change this test and course/Containerfile")
	}
	for _, want := range []string{"golang make", "COPY internal/host-packages.sh", "host-packages.sh run", `CMD ["make", "run"]`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("course/Containerfile lacks %q", want)
		}
	}
	var dev struct {
		Build struct{ Dockerfile, Context string }
	}
	text, err = os.ReadFile("../.devcontainer/devcontainer.json")
	if err == nil {
		err = json.Unmarshal(text, &dev)
	}
	if _, missing := os.Stat("../.devcontainer/" + dev.Build.Dockerfile); err != nil || missing != nil || dev.Build.Context != ".." {
		t.Errorf("%v, %v, %+v", err, missing, dev)
	}
}

// TestCarriedImage: a launcher and an image are enough, in a folder where nothing else is, without Go.
func TestCarriedImage(t *testing.T) {
	if testing.Short() {
		t.Skip("boots the kernel")
	}
	dir := t.TempDir()
	text, err := os.ReadFile(imagePath(t, normalImage))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "carried.elf"), text, 0o644)
	}
	qemu, findErr := machine.Find()
	path, buildErr := launcher()
	if err := errors.Join(err, findErr, buildErr); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "-image", "carried.elf", "-timeout", timeLimit(t).String(), "-c", "myprog -n 1")
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + filepath.Dir(qemu)}
	if out, err := cmd.Output(); err != nil || len(out) == 0 {
		t.Errorf("%v: %q", err, out)
	}
}

// TestSameFile: whether two streams are one is told without /proc, too.
func TestSameFile(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if same, _ := sameFile(w, null); same {
		t.Error("a pipe is the null device")
	}
	if same, terminal := sameFile(w, w); !same || terminal {
		t.Errorf("a pipe and itself: %v, terminal %v", same, terminal)
	}
}
