package insn

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// cellLen is room for any instruction of everyOpcode and a nop to get back in step.
const cellLen = 18

// everyOpcode returns cells that begin with each opcode of each map behind a
// few prefixes, with each ModRM.reg and the shapes of memory operands.
func everyOpcode(t *testing.T) [][]byte {
	heads := []string{
		"", "66", "f3", "f2", "48", "67", "0f", "660f", "f30f", "f20f", "480f", "660f38", "f30f38", "f20f38", "0f38", "0f3a", "660f3a",
		"c5f8", "c5f9", "c5fa", "c5fb", "c4e178", "c4e279", "c4e2f9", "c4e27a", "c4e27b", "c4e278", "c4e379", "c4e3f9", "c4e37b",
		"62f17c48", "62f17d48", "62f1fd48", "62f17e48", "62f17f48", "62f27d48", "62f27d49", "62f2fd48", "62f27e48", "62f27f48",
		"62f37d48", "62f3fd48", "62f37c48", "62f57c48", "62f57d48", "62f57e48", "62f67d48", "62f67c48",
	}
	var cells [][]byte
	for _, h := range heads {
		for op := range 256 {
			if len(h) <= 2 && (prefixOf(byte(op)) != 0 || strings.Contains("\x0f\x62\x9b\xc4\xc5\xd5", string([]byte{byte(op)}))) ||
				strings.HasSuffix(h, "0f") && (op == 0x38 || op == 0x3A) {
				continue // has a head of its own, or objdump merges it with the next (fwait)
			}
			for reg := range byte(8) {
				for _, rm := range []string{"04", "05", "40", "84", "c1"} {
					c := append(unhex(t, h), byte(op))
					c = append(c, unhex(t, rm)[0]|reg<<3, 0x25)
					for len(c) < cellLen {
						c = append(c, 0x90)
					}
					cells = append(cells, c)
				}
			}
		}
	}
	return cells
}

// TestObjdumpAgreesOnEveryOpcode compares lengths where both decode, and
// checks that what only objdump decodes is refused on purpose.
func TestObjdumpAgreesOnEveryOpcode(t *testing.T) {
	if testing.Short() {
		t.Skip("disassembles half a million opcodes")
	}
	tool, err := exec.LookPath("objdump")
	if err != nil {
		t.Skip("objdump (binutils) is not installed: nothing to compare with")
	}
	cells := everyOpcode(t)
	var all []byte
	for _, c := range cells {
		all = append(all, c...)
	}
	file := filepath.Join(t.TempDir(), "cells")
	if err := os.WriteFile(file, all, 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(tool, "-D", "-w", "-z", "--insn-width=16", "-b", "binary", "-m", "i386:x86-64", file)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	agreed, refused, wrong := 0, 0, 0
	for lines := bufio.NewScanner(out); lines.Scan(); {
		part := strings.SplitN(lines.Text(), "\t", 3)
		addr, err := strconv.ParseUint(strings.TrimRight(strings.TrimSpace(part[0]), ":"), 16, 64)
		if err != nil || len(part) < 3 || addr%cellLen != 0 || strings.Contains(part[2], "(bad)") {
			continue
		}
		code, n := cells[addr/cellLen], len(strings.Fields(part[1]))
		in, err := Decode(code)
		switch {
		case err == nil && int(in.Len) == n:
			agreed++
		case err != nil && onPurpose(part[2]):
			refused++
		default:
			if wrong++; wrong <= 10 {
				t.Errorf("% x: objdump has %d bytes, %q; here %s", code[:n], n, part[2], describe(code))
			}
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("objdump: %v", err)
	}
	t.Logf("%d cells: %d lengths agree, %d refused on purpose, %d disagreements", len(cells), agreed, refused, wrong)
	if agreed < len(cells)/4 {
		t.Errorf("only %d lengths agree: is objdump's format another one?", agreed)
	}
}

// onPurpose says what objdump 2.40 decodes and we do not: mov to CS, XOP,
// near branches with 66, PadLock, TDX, F3 before fxsave, F2 before sldt,
// vzeroupper with a mandatory prefix.
func onPurpose(text string) bool {
	op, args := mnemonic(text)
	if flowOf(op, args).Direct() || strings.Contains(text, "%?") || strings.Contains(args, "%cs") || strings.HasPrefix(op, "vzero") {
		return true
	}
	for _, p := range []string{"xcrypt", "xstore", "montmul", "xsha", "tdcall", "seam"} {
		if strings.HasPrefix(op, p) {
			return true
		}
	}
	for _, w := range []string{"repz fx", "repz ldmxcsr", "repz stmxcsr", "repz xsave", "repz xrstor", "repz clflush", "repz lfence", "repz mfence", "repz sfence",
		"repnz sldt", "repnz str", "repnz lldt", "repnz ltr", "repnz verr", "repnz verw",
		"vpshl", "vpsha", "vprot", "vpcom", "vpmac", "vpmad", "vphadd", "vphsub", "vpcmov", "vpperm", "vfrcz", "bextr", "blc", "bls", "t1mskc", "tzmsk", "llwpcb", "slwpcb", "lwp"} {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}
