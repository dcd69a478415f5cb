//go:build linux

package main

import (
	"bytes"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// bin makes a folder with a link for every program, as the image's /bin.
func bin(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name := range names() {
		if err := os.Symlink(self, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// result is what a program has done.
type result struct {
	out, err string
	status   int
}

func start(t *testing.T, path, input, program string, args ...string) (r result) {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir = t.TempDir()
	cmd.Env = []string{"PATH=" + path, "LC_ALL=C"}
	cmd.Stdin = strings.NewReader(input)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return result{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// TestScriptsDoWhatTheHostDoes runs the scripts in testdata with our shell and commands
// only, and with the host's only. In QEMU they run once more (qemu/userland_test.go).
func TestScriptsDoWhatTheHostDoes(t *testing.T) {
	dir := bin(t)
	scripts, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	all := filepath.Join(scripts, "all")
	got, want := start(t, dir, "", filepath.Join(dir, "sh"), all, scripts), start(t, "/usr/bin:/bin", "", "/bin/sh", all, scripts)
	if strings.Count(want.out, "== ") < 40 || want.status != 0 {
		t.Errorf("the host: %+v", want)
	}
	parts, wanted := strings.Split(got.out, "\n== "), strings.Split(want.out, "\n== ")
	for i := range min(len(parts), len(wanted)) {
		if parts[i] != wanted[i] {
			t.Errorf("got  %q\nwant %q", parts[i], wanted[i])
		}
	}
	if got.status != 0 || len(parts) != len(wanted) {
		t.Errorf("status %d, %d parts, want %d", got.status, len(parts), len(wanted))
	}
	if got.err != "" && got.err != "Killed\n" {
		t.Errorf("errors %q", got.err)
	}
}

// TestTar: u-root's needs the folder to unpack into.
func TestTar(t *testing.T) {
	dir := bin(t)
	got := start(t, dir, "", filepath.Join(dir, "sh"), "-c", "mkdir d o; echo 1 > d/x; tar -c -f t.tar d; tar -x -f t.tar o; cat o/d/x")
	if got.out != "1\n" || got.status != 0 {
		t.Errorf("%+v", got)
	}
}

func TestKillReachesAProcess(t *testing.T) {
	dir := bin(t)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP) // under nohup, children would ignore it
	for sig, want := range map[string]syscall.Signal{"-TERM": syscall.SIGTERM, "-9": syscall.SIGKILL, "-sighup": syscall.SIGHUP} {
		cmd := exec.Command(filepath.Join(dir, "sleep"), "600")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if got := start(t, dir, "", filepath.Join(dir, "kill"), sig, strconv.Itoa(cmd.Process.Pid)); got.status != 0 {
			t.Errorf("%+v", got)
			cmd.Process.Kill()
		}
		cmd.Wait()
		if s := cmd.ProcessState.Sys().(syscall.WaitStatus); s.Signal() != want {
			t.Errorf("%s: %v", sig, cmd.ProcessState)
		}
	}
}

func TestShellReadsFilesAndInput(t *testing.T) {
	dir := bin(t)
	sh := filepath.Join(dir, "sh")
	file := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(file, []byte("echo $1\nexit 4\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		got  result
		want result
	}{
		"a file":       {start(t, dir, "", sh, file, "arg"), result{out: "arg\n", status: 4}},
		"input":        {start(t, dir, "echo a\nif true\nthen echo b; fi\nexit 5\necho c\n", sh), result{out: "a\nb\n", status: 5}},
		"-e":           {start(t, dir, "", sh, "-e", "-c", "false; echo no"), result{status: 1}},
		"-ec":          {start(t, dir, "", sh, "-ec", "false; echo no"), result{status: 1}},
		"a bad script": {start(t, dir, "", sh, "-c", "if"), result{status: 2}},
		"no file":      {start(t, dir, "", sh, "/nosuchfile"), result{status: 127}},
		"no commands":  {start(t, dir, "", sh, "-c"), result{status: 1}},
	} {
		if c.got.out != c.want.out || c.got.status != c.want.status {
			t.Errorf("%s: %+v, want %+v", name, c.got, c.want)
		}
		if c.want.status < 4 && name[0] != '-' && !strings.HasPrefix(c.got.err, "sh: ") || c.want.status >= 4 && c.want.status != 127 && c.got.err != "" {
			t.Errorf("%s: errors %q", name, c.got.err)
		}
	}
}

// TestEveryCommandRefusesAnUnknownFlag: nobody may take a flag for done that is not
// there. A number that fails shows in the status.
func TestEveryCommandRefusesAnUnknownFlag(t *testing.T) {
	dir := bin(t)
	for name := range names() {
		switch name {
		case "echo", "true", "false", "env", "sleep": // to these it is an argument like others
			continue
		}
		if got := start(t, dir, "", filepath.Join(dir, name), "--no-such-flag"); got.status == 0 || got.err == "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
