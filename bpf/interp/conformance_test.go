package interp

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"sonde/bpf"
)

// conformanceVar names a folder with the .data files of the suite.
const conformanceVar = "SONDE_BPF_CONFORMANCE"

// TestConformance runs the suite that eBPF's executions share. All must pass but one: callx.data
// calls a helper whose number is in a register, which RFC 9669 does not have.
func TestConformance(t *testing.T) {
	folder := os.Getenv(conformanceVar)
	if folder == "" {
		t.Skipf("%s is not set: clone https://github.com/Alan-Jowett/bpf_conformance, and set it to the folder tests there", conformanceVar)
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.data"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s=%s: no file *.data is there (%v)", conformanceVar, folder, err)
	}
	passed := 0
	for _, file := range files {
		if filepath.Base(file) == "callx.data" {
			continue
		}
		if t.Run(filepath.Base(file), func(t *testing.T) { runCase(t, file) }) {
			passed++
		}
	}
	t.Logf("%d of %d files pass", passed, len(files))
}

// runCase runs one file.
func runCase(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	parts := sections(string(text))
	source, err := translate(parts["asm"])
	if err != nil {
		t.Fatal(err)
	}
	insns, err := bpf.Assemble(source)
	if err != nil {
		t.Fatalf("%v in\n%s", err, source)
	}
	compareRaw(t, insns, parts["raw"])
	want, err := strconv.ParseUint(strings.TrimSpace(parts["result"]), 0, 64)
	if err != nil {
		t.Fatal(err)
	}
	got, err := runOver(t, insns, parts["mem"])
	if err != nil || got != want {
		t.Errorf("got %#x (%v), want %#x from\n%s", got, err, want, source)
	}
}

// sections splits a file into what stands behind "-- asm" and the like. "no register offset"
// is a section of its own, which tells how a program may be made and is not needed here.
func sections(text string) map[string]string {
	parts, name := map[string]string{}, ""
	for _, line := range strings.Split(text, "\n") {
		if next, ok := strings.CutPrefix(line, "-- "); ok {
			name = strings.TrimSpace(next)
		} else if !strings.HasPrefix(line, "#") {
			parts[name] += line + "\n"
		}
	}
	return parts
}

// compareRaw compares instructions with the numbers that a file has for them, if it has.
func compareRaw(t *testing.T, insns []bpf.Insn, raw string) {
	for i, word := range strings.Fields(raw) {
		n, err := strconv.ParseUint(word, 0, 64)
		if err != nil {
			t.Fatal(err)
		}
		want, err := bpf.Decode([]byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24),
			byte(n >> 32), byte(n >> 40), byte(n >> 48), byte(n >> 56)})
		if err != nil || i >= len(insns) || insns[i] != want[0] {
			t.Errorf("instruction %d of %v is not %v (%v)", i, insns, want, err)
		}
	}
}

// runOver runs a program with R1 and R2 the address and the length of memory.
func runOver(t *testing.T, insns []bpf.Insn, memory string) (uint64, error) {
	bytes, err := hex.DecodeString(strings.Join(strings.Fields(memory), ""))
	if err != nil {
		t.Fatal(err)
	}
	m, err := New(insns)
	if err != nil {
		t.Fatal(err)
	}
	m.Regions = []Region{{Name: "the memory", Base: 0x10000, Bytes: bytes, Writable: true}}
	m.Helpers = map[int32]Helper{5: func(*Machine, [5]uint64) (uint64, error) { return 1, nil }}
	return m.Run(0x10000, uint64(len(bytes)))
}
