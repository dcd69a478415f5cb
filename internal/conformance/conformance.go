// Package conformance reads the suite bpf_conformance, for the tests of what executes programs.
//
// The suite is not in this tree: clone https://github.com/Alan-Jowett/bpf_conformance, and set
// SONDE_BPF_CONFORMANCE to the folder tests there.
package conformance

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"sonde/bpf"
)

// Variable is in the environment, and names a folder with the .data files of the suite.
const Variable = "SONDE_BPF_CONFORMANCE"

// Case is one file.
type Case struct {
	Insns  []bpf.Insn
	Memory []byte // R1 is its address, R2 its length
	Want   uint64 // R0 at the exit
}

// Run runs the suite: execute runs one case and returns R0. Helper 5 must return 1. All files
// must pass but one: callx.data calls a helper whose number is in a register, which RFC 9669 does
// not have.
func Run(t *testing.T, execute func(*testing.T, *Case) (uint64, error)) {
	folder := os.Getenv(Variable)
	if folder == "" {
		t.Skipf("%s is not set: clone https://github.com/Alan-Jowett/bpf_conformance, and set it to the folder tests there", Variable)
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.data"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s=%s: no file *.data is there (%v)", Variable, folder, err)
	}
	passed := 0
	for _, file := range files {
		if filepath.Base(file) == "callx.data" {
			continue
		}
		if t.Run(filepath.Base(file), func(t *testing.T) { runFile(t, file, execute) }) {
			passed++
		}
	}
	t.Logf("%d of %d files pass", passed, len(files))
}

func runFile(t *testing.T, file string, execute func(*testing.T, *Case) (uint64, error)) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c, err := read(string(text))
	if err != nil {
		t.Fatal(err)
	}
	got, err := execute(t, c)
	if err != nil || got != c.Want {
		source, _ := bpf.Disassemble(c.Insns)
		t.Errorf("got %#x (%v), want %#x from\n%s", got, err, c.Want, source)
	}
}

// read reads the text of a file.
func read(text string) (*Case, error) {
	parts := sections(text)
	source, err := translate(parts["asm"])
	if err != nil {
		return nil, err
	}
	c := &Case{}
	if c.Insns, err = bpf.Assemble(source); err != nil {
		return nil, fmt.Errorf("%w in\n%s", err, source)
	}
	if err = compareRaw(c.Insns, parts["raw"]); err != nil {
		return nil, err
	}
	if c.Want, err = strconv.ParseUint(strings.TrimSpace(parts["result"]), 0, 64); err != nil {
		return nil, err
	}
	c.Memory, err = hex.DecodeString(strings.Join(strings.Fields(parts["mem"]), ""))
	return c, err
}

// sections splits a file into what stands after "-- asm" and the like. "no register offset"
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
func compareRaw(insns []bpf.Insn, raw string) error {
	for i, word := range strings.Fields(raw) {
		n, err := strconv.ParseUint(word, 0, 64)
		if err != nil {
			return err
		}
		want, err := bpf.Decode([]byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24),
			byte(n >> 32), byte(n >> 40), byte(n >> 48), byte(n >> 56)})
		if err != nil || i >= len(insns) || insns[i] != want[0] {
			return fmt.Errorf("instruction %d of %v is not %v (%v)", i, insns, want, err)
		}
	}
	return nil
}
