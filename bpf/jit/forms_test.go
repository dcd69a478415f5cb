//go:build linux

package jit

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/arch/x86/x86asm"

	"sonde/arch/amd64/insn"
	"sonde/bpf"
	"sonde/bpf/random"
)

var update = flag.Bool("update", false, "rewrite testdata/forms.txt")

// formsFile has a line for each form: an instruction, its size in bytes, and its machine code as
// x86asm reads it. Each was looked at when it was written.
const formsFile = "testdata/forms.txt"

// formsView resolves all that the lines of formsFile refer to. Helper 2 is far from the code.
func formsView() *View {
	v := view()
	v.CPU = 0x10
	v.Resolve = func(_, second bpf.Insn) (uint64, error) { return 0xFFFF_8000_0000_1000 + uint64(second.Imm), nil }
	v.Helper = func(_ int, number int32) (Helper, error) {
		entry := map[int32]uintptr{1: 0x401000, 2: 0xFFFF_FFFF_8000_0000, 3: 0x401000, 7: 0}[number]
		h := Helper{Entry: entry, Context: number == 3, CPU: number == 3, Link: number == 3}
		if number == 7 {
			h.Inline = []byte{0x49, 0x8D, 0x40, 0x03}
		}
		return h, nil
	}
	return v
}

// form compiles the instruction of a line, and returns its code as text.
func form(t *testing.T, text string) string {
	insns, err := bpf.Assemble(text + "\nlabel: r0 = r0\nexit\nother: r0 = r6\nexit")
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if dst := insns[0].Dst(); dst != bpf.R10 { // what nobody reads has no code
		insns[len(insns)-4].Regs = dst << 4
	}
	p := program(insns)
	for i := range p.Stack {
		p.Stack[i] = 16
	}
	image, err := Compile(p, 0x400000, formsView())
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	next := 1
	if insns[0].IsWide() {
		next = 2
	}
	code := image.Code[image.Offsets[0]:image.Offsets[next]]
	return fmt.Sprintf("%-46s %2d  %s", text, len(code), strings.Join(disassemble(t, code, uint64(0x400000+image.Offsets[0])), "; "))
}

// disassemble returns the instructions of code, on whose lengths two decoders must agree. None may
// use R14 or an SSE register.
func disassemble(t *testing.T, code []byte, at uint64) (lines []string) {
	_, err := insn.Walk(code, func(off int, ours insn.Inst) bool {
		in, err := x86asm.Decode(code[off:], 64)
		if err != nil || in.Len != int(ours.Len) {
			t.Errorf("% x: %d bytes here, %d by x86asm (%v)", code[off:], ours.Len, in.Len, err)
			return false
		}
		line := x86asm.IntelSyntax(in, at+uint64(off), nil)
		if strings.Contains(line, "r14") || strings.Contains(line, "xmm") {
			t.Errorf("%s: uses what it must not", line)
		}
		lines = append(lines, line)
		return true
	})
	if err != nil {
		t.Errorf("% x: %v", code, err)
	}
	return lines
}

// TestForms compares each form with what it was when people looked at it.
func TestForms(t *testing.T) {
	file, err := os.ReadFile(formsFile)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for line := range strings.Lines(string(file)) {
		text, _, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if text == "" || text[0] == '#' {
			got.WriteString(line)
			continue
		}
		now := strings.TrimSpace(form(t, text))
		got.WriteString(now + "\n")
		if !*update && now != strings.TrimSpace(line) {
			t.Errorf("got\n%s\nwant\n%s", now, line)
		}
	}
	if *update {
		if err := os.WriteFile(formsFile, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestBoundaries: of random programs, each offset is the beginning of a machine instruction, and
// belongs to the instruction that it is of.
func TestBoundaries(t *testing.T) {
	for seed := range uint64(300) {
		insns := random.Program(7, seed, helpers)
		image, err := Compile(program(insns), 0, view())
		if err != nil {
			t.Fatal(err)
		}
		begins := map[int]bool{len(image.Code): true}
		if _, err := insn.Walk(image.Code, func(off int, _ insn.Inst) bool { begins[off] = true; return true }); err != nil {
			t.Fatalf("program %d: %v", seed, err)
		}
		disassemble(t, image.Code, 0)
		for pc, off := range image.Offsets {
			if !begins[off] {
				t.Errorf("program %d: offset %#x of instruction %d is within a machine instruction", seed, off, pc)
			}
			if pc == len(insns) || image.Offsets[pc+1] == off {
				continue // the end, or an instruction without code
			}
			if got, ok := image.PC(off); !ok || got != pc && !(got == pc-1 && insns[got].IsWide()) {
				t.Errorf("program %d: offset %#x is said to be of instruction %d (%v), and is of %d", seed, off, got, ok, pc)
			}
		}
	}
}
