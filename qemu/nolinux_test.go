package main

import (
	"debug/elf"
	"slices"
	"strings"
	"testing"

	"sonde/internal/image"
	"sonde/qemu/machine"
	"sonde/qemu/report"
)

// noLinux builds the kernel without programs, with its tests.
func noLinux() (string, error) { return build(image.BuildOptions{Test: true, NoLinux: true}) }

// linuxPackages are how the symbols of what runs Linux programs begin.
var linuxPackages = []string{"sonde/linux/", "sonde/uprobes"}

// linked returns which of linuxPackages a linked kernel has.
func linked(t *testing.T, path string) (found []string) {
	t.Helper()
	names := symbolNames(t, path)
	for _, p := range linuxPackages {
		if slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, p) }) {
			found = append(found, p)
		}
	}
	return found
}

// TestWithoutLinux boots the kernel without programs: no package of linux/ is in it, and kernel probes, return
// probes, jumps, watchpoints and the prompt work.
func TestWithoutLinux(t *testing.T) {
	runsBeside(t)
	path := imagePath(t, noLinux)
	if found := linked(t, path+".raw"); len(found) > 0 {
		t.Errorf("in the image are %q", found)
	}
	if found := linked(t, imagePath(t, testImage)+".raw"); !slices.Equal(found, linuxPackages) {
		t.Errorf("the whole kernel has only %q: the names of packages have changed", found)
	}
	result := bootImage(t, path, machine.Config{SMP: 2, Script: "insmod funclatency target=vfs.Read; cat /proc/uptime; rmmod funclatency; " +
		"insmod funclatency target=/bin/sh:main; kill 1; /bin/sh; sleep 0 & wait; dmesg | grep '[n]ot protected' | grep -v Laef || echo all is protected"})
	for _, want := range []string{"this kernel cannot probe a place in a program", "/bin/sh: command not found", "\nall is protected"} {
		if out := string(result.Stdout); !strings.Contains(out, want) {
			t.Errorf("no %q in the output\n%s", want, said(result))
		}
	}
	if !strings.Contains(string(result.Log), "vfs.Read, ns: 2 calls") {
		t.Errorf("funclatency measured nothing\n%s", said(result))
	}
	cases := "grace/ kprobes/handler kprobes/refuses optimized/post optimized/sysctl returns/s watch/w"
	if long() {
		cases = ""
	}
	result = bootImage(t, path, machine.Config{SMP: 2, Script: brief + "ktest " + cases})
	judge(t, report.Parse(string(result.Stdout)), result)
}

// symbolNames returns the symbols of a linked kernel.
func symbolNames(t *testing.T, path string) (names []string) {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		names = append(names, s.Name)
	}
	return names
}
