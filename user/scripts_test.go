package main

import (
	"bytes"
	"os"
	"os/exec"
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

// TestScriptsDoWhatTheHostDoes runs each script with our shell and commands only, and
// with the host's only.
func TestScriptsDoWhatTheHostDoes(t *testing.T) {
	dir := bin(t)
	for _, script := range []string{
		`for i in 1 2 3; do echo $i; done`,
		`f() { echo "$1 of $#: $*"; }; f a 'b c' d; x=5; echo $((x * 3 + 1)) ${x:-no} ${y:-yes} "$(echo sub; echo shell)"`,
		`i=0; while [ $i -lt 5 ]; do i=$((i + 1)); [ $i = 3 ] && continue; echo $i; done; case abc in a*) echo case;; esac`,
		`echo "$0 $1 $2 $#"; shift; echo "$@"`,
		`exit 7`, `false`, `true`, `false || echo or`, `set -e; false; echo never`, `(exit 3); echo $?`, `nosuchcommand 2>/dev/null`,
		`sh -c 'kill -9 $PPID' 2>/dev/null | cat; echo next`,
		`seq 3 | while read n; do echo "<$n>"; done; seq 2 5; seq 10 -4 0`,
		`echo one > f; echo two >> f; cat f f; cat < f; cat <<X
here $((1 + 1))
X`,
		`mkdir -p a/b; touch a/b/c a/d; cp a/d a/e; mv a/e a/f; ls a; rm -r a/b; ls a; [ -e a/b ]; echo $?`,
		`ln -s target l; ln -sf other l; [ -L l ] && echo link; echo x > g; ln g h; cat h; chmod 600 h; [ -w g ]; echo $?`,
		`printf '%s\n' b a c b | sort; printf '%s\n' 10 9 -1 9 | sort -n -u; printf '%s\n' b a c | sort -r`,
		`printf '%s\n' a a b a | uniq; printf '%s\n' a a b a | uniq -c; printf '%s\n' a a b a | uniq -d`,
		`seq 20 | head; seq 20 | head -n 3; seq 20 | head -2; seq 20 | tail -n 2; printf 'no end' | tail -1`,
		`seq 30 | grep 1; seq 30 | grep -v '[0-8]'; seq 30 | grep -c 2; seq 30 | grep -n '^2.$'; echo ABC | grep -i b; seq 3 | grep -q 2 && echo found`,
		`seq 3 | grep 7; echo $?; seq 3 | grep 7 nosuchfile 2>/dev/null; echo $?; echo a.b axb | grep -F a.b; echo 1 > x; echo 1 > y; grep 1 x y`,
		`printf 'a b\nc' | wc -l; printf 'a b\nc' | wc -w; printf 'a b\nc' | wc -c`,
		`echo hello | tee t1 t2; cat t1 t2; echo more | tee -a t1 >/dev/null; cat t1`,
		`echo hello > z; gzip z; ls; gunzip z.gz; cat z`,
		`echo hello | shasum -a 256 | grep -q ^5891b5b522d5df; echo $?; echo hello | base64 | base64 -d`,
		`mkdir d; touch d/a d/b; find d | sort; seq 3 | xargs echo; V=1 env W=2 | grep '^[VW]=' | sort; env W=3 sh -c 'echo $W'`,
		`sleep 0.01 & wait; echo done`,
		`sleep 0; sleep 2>/dev/null; echo $?; trap 'echo bye' EXIT; echo body`,
	} {
		args := []string{"-c", script, "name", "one", "two words"}
		got, want := start(t, dir, "", filepath.Join(dir, "sh"), args...), start(t, "/usr/bin:/bin", "", "/bin/sh", args...)
		if got.out != want.out || got.status != want.status {
			t.Errorf("%s\nstatus %d, want %d; errors %q\ngot  %q\nwant %q", script, got.status, want.status, got.err, got.out, want.out)
		}
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
