package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// linuxSource is where Debian's package linux-source-6.1 has the source.
const linuxSource = "/usr/src/linux-source-6.1.tar.xz"

// ftraceTests returns the folder of Linux's tests of ftrace, or skips the test: they are not in this tree. SONDE_FTRACE is
// tools/testing/selftests/ftrace of a checkout; without it, Debian's package is unpacked, in the long run.
func ftraceTests(t *testing.T) string {
	t.Helper()
	if dir := os.Getenv("SONDE_FTRACE"); dir != "" {
		return dir
	}
	if _, err := os.Stat(linuxSource); err != nil || !long() {
		t.Skip("skipped: SONDE_FTRACE is not set (tools/testing/selftests/ftrace of Linux 6.1); in the long run, Debian's linux-source-6.1 will do")
	}
	const dir = "linux-source-6.1/tools/testing/selftests/ftrace"
	to := t.TempDir()
	if out, err := exec.Command("tar", "-xJf", linuxSource, "-C", to, dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return filepath.Join(to, dir)
}

// ftraceScript makes busybox's commands, and runs the tests that it is given.
const ftraceScript = "mkdir -p /bb /tmp\n/usr/bin/busybox --install -s /bb\nexport PATH=/bb:/bin:/usr/bin\ncd /ftrace\n./ftracetest \"$@\"\nfor i in logs/*/*-*log*; do [ -f $i ] && echo LOG $i && tail -9 $i; done\nexit 0\n"

// TestFtraceTests runs Linux's tests of ftrace as they are, under dash and busybox: all in the long run, else a few. What
// docs/linux-tools.md lists as passed must pass.
func TestFtraceTests(t *testing.T) {
	tests := ftraceTests(t)
	script := filepath.Join(t.TempDir(), "run.sh")
	if err := os.WriteFile(script, []byte(ftraceScript), 0755); err != nil {
		t.Fatal(err)
	}
	passes := ftracePasses(t)
	cases := passes
	if !long() {
		cases = []string{"kprobe/kprobe_args.tc", "kprobe/kprobe_syntax_errors.tc", "filter/event-filter-incomplete.tc", "trigger/trigger-traceonoff.tc"}
	}
	words := []string{"/bin/sh", "/run.sh"}
	for _, c := range cases {
		words = append(words, "test.d/"+c)
	}
	out, err := launch(t, "-smp", "2", "-m", "1G", "-timeout", "90m", "-add", debians(t, "/usr/bin/busybox"), "-add", debians(t, "/usr/bin/dash")+":/bin/sh",
		"-add", tests+":/ftrace", "-add", script+":/run.sh", "-deps", "-c", strings.Join(words, " ")).Output()
	text := string(out)
	for _, c := range cases {
		if !slices.Contains(passes, c) {
			t.Errorf("%s is not listed", c)
		}
	}
	passed := regexp.MustCompile(`# of passed: +(\d+)`).FindStringSubmatch(text)
	if failed := strings.Contains(text, "# of failed:  0"); err != nil || passed == nil || !failed {
		t.Errorf("%v: of %d tests, not all pass\n%s", err, len(cases), text)
	}
}

// ftracePasses are the tests that the page lists as passed.
func ftracePasses(t *testing.T) (all []string) {
	t.Helper()
	page, err := os.ReadFile("../docs/linux-tools.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z0-9]+/[\\w/.-]+\\.tc)` \\| passes \\|").FindAllStringSubmatch(string(page), -1) {
		all = append(all, row[1])
	}
	if len(all) == 0 {
		t.Fatal("docs/linux-tools.md lists none")
	}
	return all
}

// TestTracefsPage: what the page shows of tracefs is what the prompt prints.
func TestTracefsPage(t *testing.T) {
	var commands []string
	for _, b := range shownBy(t) {
		for _, line := range b.lines {
			if command, ok := strings.CutPrefix(line, "sonde# "); ok {
				commands = append(commands, command)
			}
		}
	}
	out, err := launch(t, "-smp", "2", "-c", strings.Join(commands, "; ")).CombinedOutput()
	if err != nil {
		t.Errorf("%v", err)
	}
	sees(t, string(out), `^ +cat-\d+ +\[\d{3}\] \.{5} +\d+\.\d{6}: mine: \(vfs_read\+0x0/0x[0-9a-f]+\) n=0x10000 comm="cat"$`)
}
