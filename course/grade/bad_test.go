package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// lab1 is a lab for tests of what is taken from a folder.
func lab1(t *testing.T) *Lab {
	t.Helper()
	l, err := readLab(rootOf(t), 1)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestOnlyNamedFilesAreTaken: whatever else is in the folder is left aside, whatever it is called.
func TestOnlyNamedFilesAreTaken(t *testing.T) {
	l, from, dir := lab1(t), t.TempDir(), filepath.Join(t.TempDir(), "lab1")
	writeFile(t, filepath.Join(from, "lab1.go"), "package lab1\n")
	for _, name := range []string{"go.mod", "tests.story", "fast_amd64.s", "a b\nc", "sub/x.go"} {
		writeFile(t, filepath.Join(from, name), "replace sonde => ../mine\n")
	}
	writeFile(t, filepath.Join(dir, "old.go"), "of the last run")
	aside, err := l.take(from, dir, "1.26")
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(aside, " "); got != `"a b\nc" "fast_amd64.s" "go.mod" "sub" "tests.story"` {
		t.Errorf("left aside: %s", got)
	}
	entries, _ := os.ReadDir(dir)
	mod, _ := os.ReadFile(filepath.Join(dir, "go.mod"))
	if len(entries) != 2 || string(mod) != "module lab1\n\ngo 1.26\n" {
		t.Errorf("%v, %q", entries, mod)
	}
}

// TestFilesThatCannotBeTaken: each ends as "does not build", with the reason.
func TestFilesThatCannotBeTaken(t *testing.T) {
	l := lab1(t)
	for says, put := range map[string]func(path string) error{
		"is missing":          func(string) error { return nil },
		"is not a plain file": func(path string) error { return os.Symlink("/etc/passwd", path) },
		"has 1073741824 bytes, more than 1048576": func(path string) error { return errors.Join(os.WriteFile(path, nil, 0o644), os.Truncate(path, 1<<30)) },
		"4:1: a lab must not use //go:linkname": func(path string) error {
			return os.WriteFile(path, []byte("package lab1\n\nimport _ \"unsafe\"\n//go:linkname x runtime.x\nfunc x()\n"), 0o644)
		},
		`3:8: a lab must not import "sonde/course/load"`: func(path string) error {
			return os.WriteFile(path, []byte("package lab1\n\nimport \"sonde/course/load\"\n"), 0o644)
		},
		`1:24: a lab must not import "C"`: func(path string) error {
			return os.WriteFile(path, []byte("package lab1; import ( \"C\" )\n"), 0o644)
		},
		"2:1: expected": func(path string) error { return os.WriteFile(path, []byte("package lab1\nfun\n"), 0o644) },
	} {
		from := t.TempDir()
		if err := put(filepath.Join(from, "lab1.go")); err != nil {
			t.Fatal(err)
		}
		_, err := l.take(from, filepath.Join(t.TempDir(), "lab1"), "1.26")
		if !errors.Is(err, ErrLeft) || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
	if _, err := l.take(filepath.Join(t.TempDir(), "none"), t.TempDir(), "1.26"); !errors.Is(err, ErrLeft) || !strings.Contains(err.Error(), "make lab LAB=1 copies") {
		t.Errorf("no folder: %v", err)
	}
}

// TestHarm: modules that do harm get no points, each by the outcome that it must have, and the next
// test runs.
func TestHarm(t *testing.T) {
	if testing.Short() || brief() {
		t.Skip("boots, for some minutes")
	}
	l := lab1(t)
	list := l.changed(t, filepath.Join("testdata", "bad.txt"), "1")
	harm(t, l, kernelWith(t, l, "bad", list), list, 3*time.Second)
}

// harm runs the tests in which modules must fail, each for so long at most.
func harm(t *testing.T, l *Lab, graders []*grader, list []variant, limit time.Duration) {
	for i, v := range list {
		t.Run(v.name, func(t *testing.T) {
			for _, test := range testsOf(t, l, "", graders[i].module) {
				if want, ok := v.fails[test.ID]; ok {
					if test.Limit = limit; want == TooLong {
						test.Limit /= 4 // all of it is waited for
					}
					expect(t, graders[i], &test, v.name, want)
				}
			}
		})
	}
}

// TestHarmBeforeInsmod: a module whose init function does not end, so that the kernel does not even
// boot, and one that takes the name of the workload's.
func TestHarmBeforeInsmod(t *testing.T) {
	if testing.Short() || brief() {
		t.Skip("boots")
	}
	for init, outcome := range map[string]Outcome{
		"for spin := true; spin; {\n\t}":                  TooLong,
		"module.Register(&module.Module{Name: \"work\"})": Fail,
	} {
		l := lab1(t)
		v := variant{name: init, files: l.solution(t)}
		v.files["lab1.go"] += "\nfunc init() {\n\t" + init + "\n}\n"
		g := kernelWith(t, l, "init", []variant{v})[0]
		test := testsOf(t, l, "", g.module)[1]
		test.Limit = 3 * time.Second
		expect(t, g, &test, v.name, outcome)
	}
}

// TestHarmOnTheHost: code for the host that does not end, or takes all memory.
func TestHarmOnTheHost(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	l, err := readLab(rootOf(t), 5)
	if err != nil {
		t.Fatal(err)
	}
	list := l.changed(t, filepath.Join("testdata", "bad5.txt"), "5")
	dir := t.TempDir()
	var graders []*grader
	for _, module := range l.lay(t, dir, list) {
		g, err := l.newGrader(&options{root: rootOf(t), in: module}, hostTests(testsOf(t, l, "", module)), filepath.Join(dir, module))
		if err != nil {
			t.Fatal(err)
		}
		g.factor = measure()
		graders = append(graders, g)
	}
	harm(t, l, graders, list, time.Second)
}

// TestImportsOnTheHost: code for the host may only compute.
func TestImportsOnTheHost(t *testing.T) {
	l := &Lab{Host: []string{"check.go"}}
	for name, ok := range map[string]bool{
		"os/exec": false, "os": false, "net": false, "fmt": false, "unsafe": false, "syscall": false, "C": false, "runtime": false,
		"sonde/optprobe": false, "slices": true, "sonde/arch/amd64/insn": true,
	} {
		if err := l.allowed("lab/5/check.go", []byte("package lab5\n\nimport _ \""+name+"\"\n")); (err == nil) != ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}
