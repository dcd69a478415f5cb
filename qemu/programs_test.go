package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"sonde/qemu/initrd"
	"sonde/qemu/machine"
	"sonde/qemu/report"
)

// programs is a folder with programs for the host and the kernel alike, and an
// archive of them: static C and Go, and Debian's busybox.
type programs struct{ dir, archive string }

// programsDir is the folder, for TestMain to remove.
var programsDir string

var testPrograms = sync.OnceValues(func() (p programs, err error) {
	if p.dir, err = os.MkdirTemp("", "sonde-programs"); err != nil {
		return p, err
	}
	programsDir = p.dir
	var a initrd.Archive
	for _, name := range []string{"hello", "threads", "signals", "files"} {
		if err := command("gcc", "-O1", "-static", "-pthread", "-w", "-o", filepath.Join(p.dir, name), "testdata/programs/"+name+".c"); err != nil {
			return p, err
		}
	}
	if err := command("go", "build", "-o", filepath.Join(p.dir, "gothreads"), "testdata/programs/gothreads/main.go"); err != nil {
		return p, err
	}
	busybox, err := exec.LookPath("busybox")
	if err != nil {
		return p, fmt.Errorf("%w: run make setup", err)
	}
	if err := os.Symlink(busybox, filepath.Join(p.dir, "busybox")); err != nil {
		return p, err
	}
	names, err := os.ReadDir(p.dir)
	if err != nil {
		return p, err
	}
	for _, n := range names {
		if err := a.Add(filepath.Join(p.dir, n.Name()) + ":/bin/" + n.Name()); err != nil {
			return p, err
		}
	}
	p.archive = filepath.Join(p.dir, "archive.cpio")
	f, err := os.Create(p.archive)
	if err != nil {
		return p, err
	}
	defer f.Close()
	_, err = a.WriteTo(f)
	return p, err
})

func command(name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", cmd, err, out)
	}
	return nil
}

func buildPrograms(t *testing.T) programs {
	t.Helper()
	p, err := testPrograms()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// asOnTheHost are lines that print the same on the host.
var asOnTheHost = []string{
	"hello",
	"hello one 'two three' ''",
	"threads",
	"signals",
	"busybox sh -c 'cd /tmp; exec files'",
	"gothreads",
	`busybox sh -c 'echo hi | busybox wc; for i in 1 2 3; do busybox echo $i; done | busybox tac'`,
	`busybox sh -c 'x=$(busybox seq 1 1000 | busybox sort -rn | busybox head -3); echo $x; busybox false || echo failed; exit 5'`,
	`busybox sh -c 'busybox seq 1 20000 > /tmp/seq; busybox md5sum < /tmp/seq; busybox gzip -c /tmp/seq | busybox gunzip | busybox cmp - /tmp/seq && echo same; busybox rm /tmp/seq'`,
	`busybox sh -c '(busybox sleep 0.1; echo late) & echo soon; wait; echo $?'`,
	`busybox sh -c 'trap "echo trapped" USR1; kill -USR1 $$; exit 6'`,
	`busybox awk 'BEGIN { for (i = 0; i < 5; i++) printf "%.3f ", i / 3; print "" }'`,
	`busybox sh -c 'cd /tmp; busybox mkdir -p a/b; echo x > a/b/c; busybox tar cf t.tar a; busybox rm -r a; busybox tar xf t.tar; busybox find a; busybox sed s/x/y/ a/b/c; busybox rm -r a t.tar'`,
}

// TestProgramsAsOnTheHost runs programs on the host and in the kernel, and compares
// what they print and how they end.
func TestProgramsAsOnTheHost(t *testing.T) {
	skipIfShort(t)
	p := buildPrograms(t)
	var script strings.Builder
	var want []string
	for _, line := range asOnTheHost {
		cmd := exec.Command("sh", "-c", line+"\n echo "+mark+"$?")
		cmd.Env = append(os.Environ(), "PATH="+p.dir+":/bin")
		out, _ := cmd.Output()
		want = append(want, string(out))
		fmt.Fprintf(&script, "%s; echo "+mark+"$?\n", line)
	}
	for _, smp := range []int{1, 2, 4} {
		t.Run(fmt.Sprintf("smp%d", smp), func(t *testing.T) {
			r := bootScript(t, normalImage, machine.Config{SMP: smp, Initrd: p.archive, Script: script.String()})
			compare(t, want, string(r.Stdout))
			if t.Failed() || bytes.Contains(r.Log, []byte("BUG")) {
				t.Error(said(r))
			}
		})
	}
}

// mark is behind what each line prints, before its status.
const mark = "=====status:"

// compare compares what each line has printed.
func compare(t *testing.T, want []string, got string) {
	t.Helper()
	for i, line := range asOnTheHost {
		at := strings.Index(got, mark)
		if at < 0 {
			t.Errorf("%s: the machine ended before that", line)
			return
		}
		at += strings.IndexByte(got[at:], '\n') + 1
		if got[:at] != want[i] {
			t.Errorf("%s\non the host:\n%s\nin the kernel:\n%s", line, want[i], got[:at])
		}
		got = got[at:]
	}
}

// TestProgramsLeaveNothing runs the cases that need programs, and reads the leak line.
func TestProgramsLeaveNothing(t *testing.T) {
	skipIfShort(t)
	p := buildPrograms(t)
	r := bootScript(t, testImage, machine.Config{SMP: 2, Initrd: p.archive, Script: "ktest programs/"})
	judge(t, report.Parse(string(r.Stdout)), r)
}
