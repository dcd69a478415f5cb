package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sonde/qemu/machine"
)

// TestModelsTable: the table of docs/boards.md has each 64-bit processor of QEMU, with what it does on the booted
// kernel; -update writes it anew. Versions and variants of a processor are TestModels'.
func TestModelsTable(t *testing.T) {
	if !long() && !*update {
		t.Skip("boots some thirty processors: for make long")
	}
	runsBeside(t)
	variant := regexp.MustCompile(`-v\d+$|-IBRS|-IBPB|-noTSX`)
	table := "| model | FSGSBASE | LAHF | AVX | a probe is |\n|---|---|---|---|---|\n"
	for _, model := range qemuModels(t) {
		if variant.MatchString(model) || slices.Contains(without64, model) {
			continue
		}
		r := bootScript(t, normalImage, machine.Config{SMP: 2, Extra: []string{"-cpu", bootable(model)},
			Script: "insmod kprobe_example symbol=vfs.Read post=0; sleep 0.1; cat /proc/version; cat /sys/kernel/debug/kprobes/list; dmesg | grep -c 'handler: p->addr'; lscpu | grep Flags"})
		text := string(r.Stdout)
		if r.Crash || r.Status != 0 {
			t.Errorf("%s: %s", model, said(r))
			continue
		}
		table += fmt.Sprintf("| `%s` | %s | %s | %s | %s |\n", model, hasFlag(text, "fsgsbase"), hasFlag(text, "lahf_lm"), widest(text), reached(text))
	}
	path := filepath.Join("..", "docs", "boards.md")
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := regexp.MustCompile(`(?m)^\| model \| FSGSBASE .*\n(\|.*\n)*`).FindIndex(page)
	if at == nil {
		t.Fatal("docs/boards.md has no table of models")
	}
	if has := string(page[at[0]:at[1]]); has == table {
		return
	} else if !*update {
		t.Fatalf("docs/boards.md has\n%s\nthe processors are\n%s", has, table)
	}
	if err := os.WriteFile(path, []byte(string(page[:at[0]])+table+string(page[at[1]:])), 0o644); err != nil {
		t.Fatal(err)
	}
}

// hasFlag is whether lscpu names a feature.
func hasFlag(text, flag string) string {
	if regexp.MustCompile(`(?m)^Flags:.*\b` + flag + `\b`).MatchString(text) {
		return "yes"
	}
	return "no"
}

// widest is which of AVX there is.
func widest(text string) string {
	for _, f := range []string{"avx512f", "avx2", "avx"} {
		if hasFlag(text, f) == "yes" {
			return strings.ToUpper(f)
		}
	}
	return "no"
}

// reached is how the probe was hit.
func reached(text string) string {
	switch {
	case !regexp.MustCompile(`(?m)^[1-9]\d*$`).MatchString(text):
		return "not hit"
	case strings.Contains(text, "[OPTIMIZED]"):
		return "a jump"
	}
	return "a breakpoint"
}
