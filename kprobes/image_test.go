package kprobes

import (
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"sonde/arch/amd64/insn"
	"sonde/kallsyms"
	"sonde/kernel/text"
	"sonde/kprobes/machine"
)

// The memory of the fake machine.
const (
	fakeText    = 0x400000
	fakeSlots   = 0x500000
	fakeDetours = 0x600000
)

// fakeFuncs is the code of the fake machine. A bar ends an instruction.
var fakeFuncs = []struct{ name, code string }{
	{"t.small", "493b6610 | 760d | 55 | 4889e5 | 488b05f60f0000 | 5d | c3 | e800000000 | ebe6"},
	{"t.medium", "4c8d642490 | 4d3b6610 | 7601 | c3 | ebf2"},
	{"t.large", "4989e4 | 4981ec00200000 | 7207 | 4d3b6610 | 7601 | c3 | ebeb"},
	// mov, inc, lea of a RIP-relative operand, ret
	{"t.work", "4889c3 | 4883c001 | 48ffc3 | 488d0d00010000 | 48ffc0 | c3"},
	{"t.branches", "eb00 | 7400 | e800000000 | ffd0 | ffe0 | c3"},
	// pushf, cli, rep movsb, mov to CR3
	{"t.system", "9c | fa | f3a4 | 0f22d8 | c3"},
	// syscall, ud2, a popf of 16 bits
	{"t.fixed", "90 | 0f05 | 0f0b | 669d | c3"},
	{"t.low", "488d0d00000090 | c3"}, // the operand is 1.75 GiB below
	{"t.broken", "4889c3 | 06"},      // 06 is not an instruction
	{"t.trap", "4889c3 | c3"},
	{"t.stays", "4889c3 | c3"},
}

// assemble returns the fake code and its symbols.
func assemble(t *testing.T) (code []byte, syms []kallsyms.Symbol) {
	t.Helper()
	for _, fn := range fakeFuncs {
		b, err := hex.DecodeString(strings.NewReplacer(" ", "", "|", "").Replace(fn.code))
		if err != nil {
			t.Fatal(err)
		}
		syms = append(syms, kallsyms.Symbol{Name: fn.name, Addr: uint64(fakeText + len(code)), Size: uint64(len(b)), Type: 'T'})
		code = append(code, b...)
		for len(code)%64 != 0 {
			code = append(code, insn.OpInt3)
		}
	}
	syms = append(syms, kallsyms.Symbol{Name: "t.data", Addr: fakeText + 1<<16, Size: 8, Type: 'D'})
	return code, syms
}

// fakeKernel is the table of the fake code's symbols.
func fakeKernel(t *testing.T, syms []kallsyms.Symbol) *kallsyms.Table {
	t.Helper()
	table, err := kallsyms.Load(kallsyms.Encode(slices.Clone(syms)))
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// poolAt is n slots.
func poolAt(start, n uintptr) *text.Pool {
	return text.NewPool(start, start+n*machine.SlotSize, machine.SlotSize)
}
