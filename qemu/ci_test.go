package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestContinuousIntegration runs .ci/run with tools that only say what they are asked. Builds begin with an
// empty cache, which is gone afterwards, and the tests' last line and status come through when they fail.
func TestContinuousIntegration(t *testing.T) {
	if flow := document(t, ".github/workflows/test.yml"); !strings.HasSuffix(flow, "- run: .ci/run\n") {
		t.Errorf("the workflow runs something else\n%s", flow)
	}
	tools, tmp := t.TempDir(), t.TempDir()
	for _, name := range []string{"make", "go", "qemu-system-x86_64"} {
		const says = "#!/bin/sh\necho ${0##*/} $* with $(ls $GOCACHE | wc -l) of $GOCACHE\ntouch $GOCACHE/$$\n[ \"$1\" != test ] || exit 3\n"
		if err := os.WriteFile(filepath.Join(tools, name), []byte(says), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("../.ci/run")
	cmd.Env = append(os.Environ(), "PATH="+tools+":"+os.Getenv("PATH"), "TMPDIR="+tmp, "GOCACHE="+tools)
	out, _ := cmd.Output()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	first, last := lines[0], lines[len(lines)-1]
	if !strings.HasPrefix(first, "make ") || !strings.Contains(first, " with 0 of "+tmp+"/") || !strings.HasPrefix(last, "go test ") {
		t.Errorf("it begins with %q and ends with %q", first, last)
	}
	if n := cmd.ProcessState.ExitCode(); n != 3 {
		t.Errorf("status %d, the tests' is 3", n)
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
