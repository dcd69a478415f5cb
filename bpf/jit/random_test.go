//go:build linux

package jit

import (
	"bytes"
	"os"
	"testing"

	"sonde/bpf"
	"sonde/bpf/random"
)

// helpers are those of random programs.
var helpers = random.Helpers{Any: []int32{helperSum, helperOne, helperInline, helperWords}, Back: helperBack}

// compare runs one program both ways.
func (m *machine) compare(t *testing.T, seed1, seed2 uint64) (steps int) {
	insns := random.Program(seed1, seed2, helpers)
	memory := make([]byte, random.MemorySize)
	for i := range memory {
		memory[i] = byte(seed2>>(i%8*8)) * byte(i|1)
	}
	copy(m.memory, memory)
	want, steps, err := m.interpreted(insns, memory)
	if err != nil {
		text, _ := bpf.Disassemble(insns)
		t.Fatalf("program %d, %d: the interpreter refuses it: %v\n%s", seed1, seed2, err, text)
	}
	got, _, err := m.compiled(program(insns), view())
	if err != nil || got != want || !bytes.Equal(m.memory[:random.MemorySize], memory) {
		text, _ := bpf.Disassemble(insns)
		t.Fatalf("program %d, %d: got %#x (%v), want %#x; memory\n%x, want\n%x\n%s", seed1, seed2, got, err, want,
			m.memory[:random.MemorySize], memory, text)
	}
	return steps
}

// TestRandom compares the two executions of random programs: a million with SONDE_LONG=1.
func TestRandom(t *testing.T) {
	n, steps := 20_000, 0
	if os.Getenv("SONDE_LONG") != "" {
		n = 1_000_000
	}
	if testing.Short() {
		n = 1000
	}
	m := newMachine(t, 0)
	for i := range n {
		steps += m.compare(t, 1, uint64(i))
	}
	t.Logf("%d programs, %d instructions executed", n, steps)
}

// FuzzRandom: what the generator makes of any seed does the same both ways.
func FuzzRandom(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	f.Fuzz(func(t *testing.T, seed1, seed2 uint64) { newMachine(t, 0).compare(t, seed1, seed2) })
}
