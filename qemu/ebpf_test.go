package main

import (
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sonde/qemu/initrd"
	"sonde/qemu/machine"
)

// ebpfArchive builds the program of user/testdata/ebpf, which uses the kernel by github.com/cilium/ebpf, and puts
// it and object files of clang's into an archive. The test is skipped where the module cannot be had.
func ebpfArchive(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "ebpf")
	get := exec.Command("go", "mod", "download")
	get.Dir = "../user/testdata/ebpf"
	if out, err := get.CombinedOutput(); err != nil {
		t.Skipf("skipped: the module of user/testdata/ebpf cannot be had: %v\n%s", err, out)
	}
	build := exec.Command("go", "build", "-o", program, ".")
	build.Dir, build.Env = get.Dir, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var a initrd.Archive
	for _, add := range []string{program + ":/bin/ebpf", "../bpf/object/testdata/core.o:/tmp/core.o", "../bpf/object/testdata/latency.o:/tmp/latency.o"} {
		if err := a.Add(add); err != nil {
			t.Fatal(err)
		}
	}
	archive := filepath.Join(dir, "ebpf.cpio")
	f, err := os.Create(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := a.WriteTo(f); err != nil {
		t.Fatal(err)
	}
	return archive
}

// nothingLeft is what lists of maps, programs and links print when there are none, between two words.
const nothingLeft = "bpf map; bpf prog; bpf link; ls /sys/fs/bpf"

// TestCiliumPrograms runs a static program with cilium/ebpf: maps of all kinds, probes, tracepoints, the ring
// buffer, perf events, and fields that are found by the kernel's types. It prints a line for each of its trials.
func TestCiliumPrograms(t *testing.T) {
	runsBeside(t)
	archive := ebpfArchive(t)
	source, err := os.ReadFile("../user/testdata/ebpf/main.go")
	if err != nil {
		t.Fatal(err)
	}
	trials := regexp.MustCompile(`\{"(\w+)", \w+\}`).FindAllStringSubmatch(strings.ReplaceAll(string(source), ", nil}", ""), -1)
	if len(trials) < 20 {
		t.Fatalf("the program has %d trials", len(trials))
	}
	r := bootScript(t, normalImage, machine.Config{SMP: 2, Memory: "1G", Initrd: archive, Script: "ebpf; echo status $?; echo left; " + nothingLeft + "; echo end"})
	got := strings.ReplaceAll(string(r.Stdout), "\r", "")
	for _, trial := range trials {
		if !strings.Contains(got, "ok "+trial[1]+"\n") {
			t.Errorf("%s has failed", trial[1])
		}
	}
	if !strings.Contains(got, "status 0\nleft\nend\n") {
		t.Error("it has failed, or something is left")
	}
	if t.Failed() {
		t.Log(said(r))
	}
}

// TestRandomCallsOfBPF makes calls of bpf(2), of perf_event_open(2) and of both with random arguments, from four
// threads that share their descriptors: 10^6 of each in the long run. The kernel continues, and has as many maps,
// programs and links as before, also after a program that was killed among its calls: only what it has pinned is left.
func TestRandomCallsOfBPF(t *testing.T) {
	runsBeside(t)
	calls, seed, kill := 300, int32(1), "700ms"
	if long() {
		calls, seed, kill = 1_000_000, rand.Int31(), "2s"
	}
	t.Logf("seed %d", seed)
	r := bootScript(t, normalImage, machine.Config{SMP: 4, Memory: "1G", Initrd: ebpfArchive(t),
		Script: fmt.Sprintf("for i in fuzzperf fuzz fuzzboth; do ebpf -only $i -fuzz %[1]d -seed %[3]d; done; echo left; %[2]s; echo end; ebpf -only fuzzboth -fuzz 1000000000 -seed %[3]d -kill %[4]s; echo status $?; ", calls, nothingLeft, seed, kill) +
			"rm /sys/fs/bpf/fuzzed; echo left; " + nothingLeft + "; echo end"})
	got := strings.ReplaceAll(string(r.Stdout), "\r", "")
	if strings.Count(got, "ok fuzz") != 3 || !strings.Contains(got, "ok fuzzboth\nleft\nend\n") || !strings.Contains(got, "status 137\n") || !strings.HasSuffix(got, "\nleft\nend\n") {
		t.Errorf("%s", said(r))
	}
}
