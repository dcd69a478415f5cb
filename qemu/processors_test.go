package main

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sonde/qemu/machine"
)

// someModels differ in what matters here: the first 64-bit ones, without LAHF, and without
// FSGSBASE; Intel and AMD; the newest.
var someModels = []string{"qemu64", "kvm64", "core2duo", "phenom", "Nehalem", "Skylake-Server", "EPYC"}

// without64 are QEMU's models that have no 64-bit mode.
var without64 = []string{"486", "pentium", "pentium2", "pentium3", "athlon", "coreduo", "n270", "kvm32", "qemu32"}

// TestModels: each processor that QEMU can be runs the kernel, or is refused in a line. A
// probe becomes a jump where the processor has what that takes, and works where it
// does not: one without LAHF used to crash at its first.
func TestModels(t *testing.T) {
	runsBeside(t)
	models := someModels
	if long() {
		models = qemuModels(t)
	}
	const script = "insmod kprobe_example symbol=vfs.Read post=0; sleep 0.1; cat /proc/version; grep -c OPTIMIZED /sys/kernel/debug/kprobes/list; " +
		"lscpu | grep -c lahf_lm; dmesg | grep -c 'handler: p->addr'"
	for _, model := range models {
		t.Run(model, func(t *testing.T) {
			r := bootScript(t, normalImage, machine.Config{SMP: 2, Script: script, Extra: []string{"-cpu", bootable(model)}})
			name, _, _ := strings.Cut(model, "-")
			if slices.Contains(without64, name) {
				if r.Status != machine.StatusCrash || !strings.HasPrefix(r.Reason, "sonde: boot failed: the processor ") {
					t.Errorf("reason %q\n%s", r.Reason, said(r))
				}
				return
			}
			_, rest, _ := strings.Cut(string(r.Stdout), "\n") // after the version
			counts := strings.Fields(rest)
			says := strings.Contains(string(r.Log), "the processor lacks LAHF in 64-bit mode (LAHF_LM), so no probe becomes a jump")
			if r.Crash || len(counts) != 3 || counts[0] != counts[1] || says != (counts[1] == "0") || counts[2] == "0" {
				t.Errorf("jumps, LAHF, hits: %q, and it says so: %v\n%s", counts, says, said(r))
			}
		})
	}
}

// bootable is a model with what it lacks for QEMU not to hang: docs/boards.md.
func bootable(model string) string {
	if strings.HasPrefix(model, "Opteron_G4") || strings.HasPrefix(model, "Opteron_G5") {
		return model + ",+xsaveopt"
	}
	return model
}

// qemuModels asks QEMU for the processors that it knows.
func qemuModels(t *testing.T) (models []string) {
	path, err := machine.Find()
	if err != nil {
		t.Fatal(err)
	}
	list, err := exec.Command(path, "-cpu", "help").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^x86 (\S+)`).FindAllStringSubmatch(string(list), -1) {
		if name := m[1]; name != "base" && name != "host" {
			models = append(models, name)
		}
	}
	if len(models) < 100 {
		t.Fatalf("only %q", models)
	}
	return models
}

// TestClocks: the time is measured against whichever timer runs; if there is none the
// kernel says so. It used to wait for the PIT for ever.
func TestClocks(t *testing.T) {
	runsBeside(t)
	for _, c := range []struct {
		name, line, says string
		extra            []string
	}{
		{"pit", "clock=pit", "measured against the PIT", nil},
		{"hpet", "clock=hpet", "measured against the HPET", nil},
		{"unknown", "clock=sundial", "measured against the ACPI PM timer", nil},
		{"no ACPI", "acpi=off", "measured against the PIT", nil},
		{"no ACPI on the board", "", "measured against the PIT", []string{"-machine", "pc,acpi=off"}},
		{"none", "acpi=off", "boot failed: nothing tells the time", []string{"-machine", "q35,pit=off"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := bootScript(t, normalImage, machine.Config{SMP: 2, Append: c.line, Script: "time sleep 0.1", Extra: c.extra})
			fails := c.name == "none"
			if !strings.Contains(string(r.Log), c.says) || r.Crash != fails || !fails && r.Status != 0 {
				t.Errorf("it does not say %q\n%s", c.says, said(r))
			}
		})
	}
}
