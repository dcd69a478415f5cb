package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sonde/internal/image"
)

// lesson does what docs/modules.md tells to do, in a folder of its own: its commands, and its
// program. It returns the folder and the command that boots the kernel.
func lesson(t *testing.T) (dir, command string) {
	t.Helper()
	root, err := image.Root()
	if err != nil {
		t.Fatal(err)
	}
	text := document(t, "docs/modules.md")
	var commands []string
	for _, m := range regexp.MustCompile(`(?m)^    (\S.*)$`).FindAllStringSubmatch(text, -1) {
		commands = append(commands, m[1])
	}
	program := regexp.MustCompile("(?s)```go\n(.*?)```").FindStringSubmatch(text)
	if len(commands) < 4 || program == nil || !strings.HasPrefix(commands[3], "go run sonde/qemu ") {
		t.Fatalf("docs/modules.md is not as it was: commands %q", commands)
	}
	base := t.TempDir()
	inFolder(t, base, strings.ReplaceAll(strings.Join(commands[:3], "\n"), "SONDE", root))
	dir = filepath.Join(base, "reads")
	write(t, filepath.Join(dir, "reads.go"), program[1])
	return dir, commands[3]
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// inFolder runs commands in a folder, which must succeed, and returns what they print.
func inFolder(t *testing.T, dir, commands string) string {
	t.Helper()
	out, err := runIn(dir, commands)
	if err != nil {
		t.Fatalf("%s: %v\n%s", commands, err, out)
	}
	return out
}

func runIn(dir, commands string) (string, error) {
	cmd := exec.Command("sh", "-e", "-c", commands)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=", "GOFLAGS=")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// inFile is a place in the reader's module.
var inFile = regexp.MustCompile(`at example\.com/\S+\.go:\d+`)

// TestModulesFromElsewhere follows docs/modules.md in a module of its own. The same kernel
// has, from a folder below, handlers with the commonest mistakes: each is named, with its
// line, when it is made, and those that the code shows when the probe is registered.
func TestModulesFromElsewhere(t *testing.T) {
	runsBeside(t)
	dir, command := lesson(t)
	source, err := os.ReadFile("testdata/mistakes/mistakes.go")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "mistakes", "mistakes.go"), string(source))
	write(t, filepath.Join(dir, "tool", "main.go"), "package main\n\nfunc main() { undefined() }\n") // a program is left alone
	script := "insmod reads; cat /proc/uptime; rmmod reads; dmesg"
	if !strings.Contains(command, "'"+script+"'") {
		t.Fatalf("%s does not run %q", command, script)
	}
	out := inFolder(t, dir, strings.Replace(command, script, "sysctl -w debug.kprobes-handler-limit-ms=100; insmod mistakes; "+script, 1))
	for _, b := range shownBy(t) { // of a probe on vfs.Read, in reads.go; mistakes has them elsewhere
		want := strings.NewReplacer("vfs.Read+0x0 ", "mistakes.victim+0x0 ", "reads.count ", "mistakes.grow ").Replace(strings.Join(b.lines, "\n"))
		b.find(t, masked(inFile.ReplaceAllString(want, "in a file")), masked(inFile.ReplaceAllString(out, "in a file")))
	}
	n := 0
	for i, line := range strings.Split(string(source), "\n") {
		_, what, ok := strings.Cut(line, " // ")
		if !ok || strings.HasPrefix(line, "//") {
			continue
		}
		n++
		hint := ""
		if strings.HasPrefix(what, "panic") {
			hint = " (a handler cannot recover)"
		}
		want := fmt.Sprintf("abandoned: %s at example.com/reads/mistakes/mistakes.go:%d%s; the probe is disabled", what, i+1, hint)
		if !strings.Contains(out, want) {
			t.Errorf("the log does not say %q", want)
		}
	}
	for handler, rule := range map[string]string{
		"format": "allocates memory", "grow": "allocates memory", "count": "writes to a map", "send": "uses a channel", "lock": "takes a lock",
		"sleep": "sleeps or switches goroutines", "start": "starts a goroutine",
		"value": "allocates memory", "method": "allocates memory",
	} {
		want := regexp.MustCompile(`the pre-handler of mistakes\.victim\+0x0 ` + rule + `, so it may be abandoned: mistakes\.` + handler + ` -> \S`)
		if !want.MatchString(out) {
			t.Errorf("no warning %q", want)
		}
	}
	if n != 14 || strings.Contains(out, "victim returned") || strings.Count(out, "abandoned: ") < n {
		t.Errorf("%d mistakes", n)
	}
	if t.Failed() {
		t.Log(out)
	}
}

// TestModulesThatCannotBe: what is wrong with a folder is said at once, and in its words.
func TestModulesThatCannotBe(t *testing.T) {
	runsBeside(t)
	path, err := launcher()
	if err != nil {
		t.Fatal(err)
	}
	root, err := image.Root()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, file, text, says string
		flag                   string
		status                 int
	}{
		{"empty", "README", "", "no Go files in it or below", "-build", 2},
		{"program", "main.go", "package main\n", "it is package main, which is a program", "-vet", 2},
		{"broken", "bad.go", "//go:build tamago\n\npackage bad\n\nvar x int = \"a\"\n", "bad.go:5:13: cannot use \"a\"", "-build", 71},
		{"vetted", "bad.go", "//go:build tamago\n\npackage bad\n\nfunc Same(x int) {\n\tx = x\n}\n", "bad.go:6:2: self-assignment of x", "-vet", 71},
		{"clean", "good.go", "//go:build tamago\n\npackage good\n\nimport \"sonde/kprobes\"\n\nvar Probe kprobes.Kprobe\n", "", "-vet", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), c.name)
			write(t, filepath.Join(dir, c.file), c.text)
			cmd := exec.Command(path, "-with", dir, c.flag)
			cmd.Dir = root
			out, _ := cmd.CombinedOutput()
			if got := cmd.ProcessState.ExitCode(); got != c.status || !strings.Contains(string(out), c.says) {
				t.Errorf("status %d, want %d and %q:\n%s", got, c.status, c.says, out)
			}
		})
	}
	cmd := exec.Command(path, "-with", "nowhere", "-build")
	cmd.Dir = root
	if out, _ := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != 71 || !strings.Contains(string(out), "nowhere: no such file") {
		t.Errorf("status %d:\n%s", cmd.ProcessState.ExitCode(), out)
	}
}
