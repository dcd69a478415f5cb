package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"sonde/qemu/machine"
	"sonde/qemu/report"
)

// asOnTheHost are lines that print the same on the host.
var asOnTheHost = []string{
	"hello",
	"hello one 'two three' ''",
	"threads",
	"signals",
	"calls",
	"sockets",
	"inet",
	"state",
	"bound",
	"far",
	"placed-0x4000000",
	"placed-0x40000000",
	"placed-0x640000000000",
	"busybox sh -c 'cd /tmp; exec files'",
	"badmemory",
	"vdso",
	"vdso-pie",
	"advice",
	"refusals",
	"answers",
	"traps 1 300",
	"traps 2 300",
	"gothreads",
	`busybox sh -c 'echo hi | busybox wc; for i in 1 2 3; do busybox echo $i; done | busybox tac'`,
	`busybox sh -c 'x=$(busybox seq 1 1000 | busybox sort -rn | busybox head -3); echo $x; busybox false || echo failed; exit 5'`,
	`busybox sh -c 'busybox seq 1 20000 > /tmp/seq; busybox md5sum < /tmp/seq; busybox gzip -c /tmp/seq | busybox gunzip | busybox cmp - /tmp/seq && echo same; busybox rm /tmp/seq'`,
	`busybox sh -c 'cd /tmp; busybox mkfifo gate; (busybox sleep 0.1; read x < gate; echo late) & echo soon; echo > gate; wait; echo $?; busybox rm gate'`,
	`busybox sh -c 'trap "echo trapped" USR1; kill -USR1 $$; exit 6'`,
	"ptys",
	"dynamic bin/dynamic",
	"dash scripts/files.sh",
	"dash scripts/text.sh",
	"dash scripts/proc.sh",
	"bash scripts/bash.bash",
	"python3 -W ignore scripts/python.py",
	`python3 -c "import sys; print(sys.version_info[:3], sys.argv[1:])" one two`,
	"scripts/lines.awk scripts/text.sh",
	`busybox awk 'BEGIN { for (i = 0; i < 5; i++) printf "%.3f ", i / 3; print "" }'`,
	`fdcalls`,
	`watchfiles`,
	`busybox sh -c 'cd /tmp; busybox mkdir -p a/b; echo x > a/b/c; busybox tar cf t.tar a; busybox rm -r a; busybox tar xf t.tar; busybox find a; busybox sed s/x/y/ a/b/c; busybox rm -r a t.tar'`,
}

// asRoot are those of them that show who runs them, or do what only root may. The kernel's programs
// are root, so they print the same on the host only as root.
var asRoot = []string{"refusals", "dash scripts/files.sh", "dash scripts/proc.sh", "fdcalls", "watchfiles"}

// linesFor returns the lines that print the same for a user of the host.
func linesFor(t *testing.T, uid int) []string {
	if uid == 0 {
		return asOnTheHost
	}
	t.Logf("only root can compare %q", asRoot)
	return slices.DeleteFunc(slices.Clone(asOnTheHost), func(line string) bool { return slices.Contains(asRoot, line) })
}

// TestLinesForUsers: what needs root is left out for others, and nothing else.
func TestLinesForUsers(t *testing.T) {
	if n := len(linesFor(t, 0)); n != len(asOnTheHost) {
		t.Errorf("root compares %d lines of %d", n, len(asOnTheHost))
	}
	lines := linesFor(t, 1000)
	if len(lines) != len(asOnTheHost)-len(asRoot) || !slices.Contains(lines, "hello") {
		t.Errorf("a user compares %d lines of %d: %q", len(lines), len(asOnTheHost), lines)
	}
}

// olderModels are processors without FSGSBASE: the first of AMD's and Intel's with 64 bits, and the
// last of Intel's without it, which has AVX.
var olderModels = []string{"qemu64", "Opteron_G1", "Nehalem", "SandyBridge"}

// machinesForPrograms are those on which programs are compared with the host: several processors of
// the newest kind and one of the oldest; in the long run, more of both.
func machinesForPrograms() (all []machine.Config) {
	if !long() {
		return []machine.Config{{SMP: 2}, {SMP: 1, CPU: olderModels[0]}}
	}
	for _, smp := range cpus() {
		all = append(all, machine.Config{SMP: smp})
	}
	for _, model := range olderModels {
		all = append(all, machine.Config{SMP: 2, CPU: model})
	}
	return all
}

// TestProgramsAsOnTheHost runs programs on the host and in the kernel, and compares
// what they print and how they end.
func TestProgramsAsOnTheHost(t *testing.T) {
	runsBeside(t)
	usualSignals(t)
	p := buildPrograms(t)
	var script strings.Builder
	var want []string
	lines := linesFor(t, os.Getuid())
	before, _ := priority()
	for _, line := range lines {
		cmd := exec.Command("sh", "-c", "exec 2>&1\n"+line+"\n echo "+mark+"$?")
		ownGroup(cmd) // fdcalls makes its whole group nice
		cmd.Dir = p.dir
		cmd.Env = []string{"PATH=" + p.dir + "/bin:/usr/bin:/bin", "HOME=/", "TERM=vt100", "SHELL=/bin/sh", "USER=root"}
		out, _ := cmd.Output()
		want = append(want, string(out))
		fmt.Fprintf(&script, "%s; echo "+mark+"$?\n", line)
	}
	if now, _ := priority(); now != before {
		t.Errorf("the priority of the test's process group was %d and is %d", before, now)
	}
	for _, m := range machinesForPrograms() {
		t.Run(fmt.Sprintf("smp%d%s", m.SMP, m.CPU), func(t *testing.T) {
			t.Parallel()
			m.Initrd, m.Script = p.archive, script.String()+coreScript
			r := bootScript(t, normalImage, m)
			wrong := compare(lines, want, string(r.Stdout))
			debugCore(t, filepath.Join(p.dir, "bin", "dumps"), string(r.Stdout[bytes.LastIndex(r.Stdout, []byte(mark))+1:]))
			if len(wrong) > 0 || t.Failed() || bytes.Contains(r.Log, []byte("BUG")) {
				t.Error(said(r))
			}
			for _, w := range wrong {
				t.Error(w)
			}
		})
	}
}

// usualSignals lets what the test starts have no signal ignored: nohup ignores SIGHUP, a shell
// without job control SIGINT and SIGQUIT of what it starts with &, and children inherit that. A
// signal that the test takes itself is the default again in a program that it executes.
func usualSignals(t *testing.T) {
	c := make(chan os.Signal, 1)
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT} {
		if signal.Ignored(s) {
			signal.Notify(c, s)
		}
	}
	t.Cleanup(func() { signal.Stop(c) })
}

// mark is after what each line prints, before its status.
const mark = "=====status:"

// compare compares what each line has printed, and tells in a line or two which one is wrong, and
// where: of a long report often only the end is seen.
func compare(lines, want []string, got string) (wrong []string) {
	for i, line := range lines {
		at := strings.Index(got, mark)
		if at < 0 {
			return append(wrong, fmt.Sprintf("the machine ended in %q, which had printed %q", line, end([]byte(got), 300)))
		}
		at += strings.IndexByte(got[at:], '\n') + 1
		if got[:at] != want[i] {
			wrong = append(wrong, fmt.Sprintf("%q: %s", line, differingLine(got[:at], want[i])))
		}
		got = got[at:]
	}
	return wrong
}

// differingLine shows the first line in which two texts differ.
func differingLine(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	i := 0
	for i < min(len(g), len(w))-1 && g[i] == w[i] {
		i++
	}
	return fmt.Sprintf("line %d: got %q, want %q", i+1, g[i], w[i])
}

// TestCompareNamesTheProgram has one that differs, and one that does not end.
func TestCompareNamesTheProgram(t *testing.T) {
	done := func(text string) string { return text + mark + "0\n" }
	want := []string{done("a\nb\n"), done("c\n"), done("d\n")}
	wrong := compare(asOnTheHost, want, done("a\nx\n")+done("c\n")+"half a li")
	if len(wrong) != 2 {
		t.Fatalf("%q", wrong)
	}
	for i, says := range [][]string{{asOnTheHost[0], "line 2", "b", "x"}, {asOnTheHost[2], "half a li"}} {
		for _, s := range says {
			if !strings.Contains(wrong[i], s) || strings.Contains(wrong[i], "\n") {
				t.Errorf("%q does not say %q", wrong[i], s)
			}
		}
	}
}

// TestProgramsLeaveNothing runs the cases that need programs, and reads the leak line.
func TestProgramsLeaveNothing(t *testing.T) {
	runsBeside(t)
	p := buildPrograms(t)
	r := bootScript(t, testImage, machine.Config{SMP: 2, Initrd: p.archive, Script: fewer() + "ktest programs/"})
	judge(t, report.Parse(string(r.Stdout)), r)
}

// TestUsualSignals starts itself as nohup and a shell without job control do.
func TestUsualSignals(t *testing.T) {
	const child = "SONDE_IGNORING"
	if os.Getenv(child) != "" {
		usualSignals(t)
		out, err := exec.Command("grep", "SigIgn", "/proc/self/status").Output()
		fmt.Printf("%s%v", out, err)
		return
	}
	cmd := exec.Command("sh", "-c", `trap "" HUP INT QUIT; exec "$0" -test.run='^TestUsualSignals$'`, os.Args[0])
	cmd.Env = append(os.Environ(), child+"=1")
	out, err := cmd.CombinedOutput()
	const three = 1<<(syscall.SIGHUP-1) | 1<<(syscall.SIGINT-1) | 1<<(syscall.SIGQUIT-1) // others may be ignored
	var ignored uint64
	if n, _ := fmt.Sscanf(string(out), "SigIgn:\t%x", &ignored); err != nil || n != 1 || ignored&three != 0 {
		t.Errorf("%v, %s", err, out)
	}
}
