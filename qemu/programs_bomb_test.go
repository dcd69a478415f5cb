package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"sonde/qemu/initrd"
	"sonde/qemu/machine"
)

// TestMemoryBombs: programs that take memory without end are ended or refused, each by what
// bounds it, the log says so, and nothing that they had is lost.
func TestMemoryBombs(t *testing.T) {
	runsBeside(t)
	dir := t.TempDir()
	program := filepath.Join(dir, "bombs")
	if err := command("gcc", "-O1", "-static", "-o", program, "testdata/programs/bombs.c"); err != nil {
		t.Fatal(err)
	}
	var a initrd.Archive
	if err := a.Add(program + ":/bin/bombs"); err != nil {
		t.Fatal(err)
	}
	archive := filepath.Join(dir, "archive.cpio")
	f, err := os.Create(archive)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.WriteTo(f); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	const frames = "; grep Frames /proc/meminfo; "
	script := "bombs little" + frames + "bombs" + frames + "echo alive"
	r := bootScript(t, normalImage, machine.Config{SMP: 2, Initrd: archive, Script: script})
	out := string(r.Stdout)
	number := func(name string) int {
		m := regexp.MustCompile(`(?m)^` + name + ` (\d+)\r?$`).FindStringSubmatch(out)
		if m == nil {
			return -1
		}
		n, _ := strconv.Atoi(m[1])
		return n
	}
	if n := number("limited"); n < 50 || n > 64 {
		t.Errorf("%d MiB within a limit of 64", n)
	}
	if n := number("areas"); n < 65000 || n > 65530 {
		t.Errorf("%d areas", n)
	}
	if n := number("sparse"); n != 63488 {
		t.Errorf("%d mappings one after the other", n)
	}
	for _, want := range []string{"stack: status 11", "pages: status 9", "pages again: status 9", "alive"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q", want)
		}
	}
	if got := strings.Count(string(r.Log), "Out of memory: Killed process"); got != 3 {
		t.Errorf("the log says %d times that memory is out", got)
	}
	if m := regexp.MustCompile(`Frames: +(\d+) kB`).FindAllStringSubmatch(out, -1); len(m) != 2 || m[0][1] != m[1][1] {
		t.Errorf("frames before and after: %v", m)
	}
	if t.Failed() {
		t.Error(said(r))
	}
}
