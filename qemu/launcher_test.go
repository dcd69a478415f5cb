package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sonde/qemu/machine"
)

// commandsDir has the commands that are built, for TestMain to remove.
var commandsDir = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "commands") })

// launcher builds the command itself, because "go run" would hide its exit status. benchmarks builds
// qemu/bench.
var (
	launcher   = sync.OnceValues(func() (string, error) { return buildCommand("qemu", ".") })
	benchmarks = sync.OnceValues(func() (string, error) { return buildCommand("bench", "./bench") })
)

func buildCommand(name, folder string) (path string, err error) {
	dir, err := commandsDir()
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, name)
	if out, err := exec.Command("go", "build", "-o", path, folder).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return path, nil
}

// TestMain also looks whether the tests have left a file in this folder.
func TestMain(m *testing.M) {
	before, _ := filepath.Glob("*")
	code := m.Run()
	if after, _ := filepath.Glob("*"); !slices.Equal(before, after) {
		fmt.Printf("FAIL: the tests changed this folder:\nbefore %q\nafter  %q\n", before, after)
		code = 1
	}
	if dir, err := commandsDir(); err == nil {
		os.RemoveAll(dir)
	}
	if programsDir != "" {
		os.RemoveAll(programsDir)
	}
	os.Exit(code)
}

// launch returns the launcher with the image that the tests use.
func launch(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	image, err := normalImage()
	if err != nil {
		t.Fatal(err)
	}
	path, err := launcher()
	if err != nil {
		t.Fatal(err)
	}
	return exec.Command(path, append([]string{"-image", image, "-timeout", timeLimit(t).String()}, args...)...)
}

// TestExitStatus: a shell sees how the guest ended, and gets the two outputs separately.
func TestExitStatus(t *testing.T) {
	runsBeside(t)
	for _, c := range []struct {
		name   string
		args   []string
		status int
		stdout string // exactly
		stderr string // somewhere
	}{
		{"success", []string{"-c", "echo hello"}, 0, "hello\n", "booting on 2 CPUs"},
		{"failure", []string{"-c", "echo hello; false"}, 1, "hello\n", ""},
		{"wrong usage in the guest", []string{"-c", "sleep"}, 2, "sleep: give one duration\nusage: sleep seconds\n", ""},
		{"not found", []string{"-c", "nosuch"}, 127, "nosuch: command not found (did you mean touch?)\n", ""},
		{"quiet", []string{"-q", "-c", "echo hello"}, 0, "hello\n", ""},
		{"quiet crash", []string{"-q", "-c", "crash panic"}, machine.StatusCrash, "", "Kernel panic"},
		{"crash", []string{"-c", "crash panic"}, machine.StatusCrash, "", "qemu: kernel crashed (panic: crash: asked for)"},
		{"timeout", []string{"-timeout", "3s", "-c", "sleep 1000"}, machine.StatusTimeout, "", "timed out after 3s"},
		{"as long as it takes", []string{"-timeout", "0", "-c", "true"}, 0, "", ""},
		{"no such image", []string{"-image", "none.elf", "-c", "true"}, machine.StatusQEMU, "", "none.elf"},
		{"wrong machine", []string{"-m", "1024K", "-c", "true"}, machine.StatusUsage, "", "memory 1024K: the kernel is loaded at 64 MiB"},
		{"wrong usage", []string{"-nope"}, machine.StatusUsage, "", "flag provided but not defined"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			cmd := launch(t, c.args...)
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			if err := cmd.Run(); cmd.ProcessState == nil {
				t.Fatal(err)
			}
			if got := cmd.ProcessState.ExitCode(); got != c.status {
				t.Errorf("status %d, want %d", got, c.status)
			}
			if stdout.String() != c.stdout || !strings.Contains(stderr.String(), c.stderr) {
				t.Errorf("standard output %q, want %q; standard error lacks %q:\n%s", &stdout, c.stdout, c.stderr, &stderr)
			}
			if c.name == "quiet" && stderr.Len() > 0 {
				t.Errorf("standard error has %q", &stderr)
			}
		})
	}
}

func TestCtrlCStopsTheLauncher(t *testing.T) {
	runsBeside(t)
	cmd := launch(t, "-c", "echo begun; sleep 1000")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil { // it is running
		t.Fatal(err)
	}
	cmd.Process.Signal(os.Interrupt)
	io.Copy(io.Discard, out)
	cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != machine.StatusInterrupt {
		t.Errorf("status %d, want %d", got, machine.StatusInterrupt)
	}
}

// TestRebootAtThePrompt: only a machine at a terminal really starts again.
func TestRebootAtThePrompt(t *testing.T) {
	runsBeside(t)
	for _, m := range []string{"q35", "microvm"} {
		t.Run(m, func(t *testing.T) {
			cmd := launch(t, "-machine", m)
			ownGroup(cmd)
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			screen := newScreen()
			cmd.Stdout, cmd.Stderr = screen, screen
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer killGroup(cmd)
			for i, line := range []string{"reboot\r", "poweroff\r"} {
				screen.await(t, "sonde# ", i+1)
				io.WriteString(in, line)
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("%v\n%s", err, screen.text())
			}
			if n := strings.Count(screen.text(), "] sonde "); n != 2 {
				t.Errorf("booted %d times, want 2\n%s", n, screen.text())
			}
		})
	}
}

// screen keeps what a command prints.
type screen struct {
	mu   sync.Mutex
	data []byte        // guarded by mu
	more chan struct{} // told of each change
}

func newScreen() *screen { return &screen{more: make(chan struct{}, 1)} }

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.data = append(s.data, b...)
	select {
	case s.more <- struct{}{}:
	default:
	}
	return len(b), nil
}

func (s *screen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.data)
}

// await waits until want has appeared n times.
func (s *screen) await(t *testing.T, want string, n int) {
	t.Helper()
	late := time.After(firmwareTime) // some wait for firmware and GRUB
	for strings.Count(s.text(), want) < n {
		select {
		case <-s.more:
		case <-late:
			t.Fatalf("no %q, number %d:\n%s", want, n, s.text())
		}
	}
}
