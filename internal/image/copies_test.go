package image

import (
	"reflect"
	"testing"

	"sonde/arch/amd64/insn"
	"sonde/gotypes"
	"sonde/kallsyms"
)

// TestSpots reads places as Go's compiler writes them.
func TestSpots(t *testing.T) {
	for expr, want := range map[string]gotypes.Spot{
		"\x50":                             {Regs: []uint8{0}},
		"\x51":                             {Regs: []uint8{2}}, // DWARF's register 1 is DX
		"\x90\x0f":                         {Regs: []uint8{15}},
		"\x61":                             {}, // X0
		"\x9c":                             {OnStack: true, Stack: 0x48},
		"\x91\x50":                         {OnStack: true, Stack: 0x48 - 0x30},
		"\x91\xd8\x7e":                     {OnStack: true, Stack: 0x48 - 0xa8},
		"\x53\x93\x08\x52\x93\x08":         {Regs: []uint8{3, 1}},
		"\x91\x50\x93\x08\x91\x58\x93\x08": {OnStack: true, Stack: 0x18}, // two words, one after the other
		"\x91\x50\x93\x08\x91\x60\x93\x08": {},                           // and apart
		"\x53\x93\x08\x91\x58\x93\x08":     {},
		"\x91\x50\x93\x08\x53\x93\x08":     {},
		"\x53\x93\x08\x93\x08":             {}, // half of it is nowhere
		"\x10\x05\x9f":                     {},
		"":                                 {},
	} {
		if got := spotOf([]byte(expr), 0x48); !reflect.DeepEqual(got, want) {
			t.Errorf("% x: %+v, want %+v", expr, got, want)
		}
	}
}

// TestLocations reads a list: from 0x1010 to 0x1020 in AX, then in BX.
func TestLocations(t *testing.T) {
	l := locations{lists: []byte("\xff\x01\x01\x04\x10\x20\x01\x50\x04\x20\x30\x01\x53\x00"), addrs: make([]byte, 32), base: 8}
	l.addrs[16+1] = 0x10
	for addr, want := range map[uint64]string{0x100f: "", 0x1010: "\x50", 0x101f: "\x50", 0x1020: "\x53", 0x1030: ""} {
		if got, ok := l.at(1, addr); string(got) != want || ok != (want != "") {
			t.Errorf("%#x: % x, %v, want % x", addr, got, ok, want)
		}
	}
	for _, off := range []int64{0, 100, -1} {
		if _, ok := l.at(off, 0x1010); ok {
			t.Errorf("there is a place at %d", off)
		}
	}
}

// TestArgumentsOfCopies: the table has where DWARF says that the arguments of copies are, and so they are:
// sync.(*Mutex).Unlock calls a function with its argument at once, after it has looked whether that is nil.
func TestArgumentsOfCopies(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the test image")
	}
	f := linked(t, BuildOptions{Test: true})
	table, _ := f.table(t)
	d, err := f.view.DWARF()
	if err != nil {
		t.Fatal(err)
	}
	info, of, err := readTypes(d)
	if err != nil {
		t.Fatal(err)
	}
	syms, err := kallsyms.Load(kallsyms.Encode(f.kernelSymbols()))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.copies(d, info, of, syms); err != nil {
		t.Fatal(err)
	}
	functions, copies, known, all := 0, 0, 0, 0
	for _, fn := range info.Funcs {
		got := table.Copies(fn.Addr)
		if len(got) != len(fn.Copies) {
			t.Fatalf("%#x: %d copies, want %d", fn.Addr, len(got), len(fn.Copies))
		}
		for i, spots := range fn.Copies {
			if !reflect.DeepEqual(got[i], spots) {
				t.Fatalf("%#x, copy %d: %+v, want %+v", fn.Addr, i, got[i], spots)
			}
			for _, s := range spots {
				if s.Known() {
					known++
				}
			}
			all += len(fn.Params)
		}
		if len(got) > 0 {
			functions++
		}
		copies += len(got)
	}
	t.Logf("%d functions, %d copies, %d of %d arguments", functions, copies, known, all)
	if known < 2000 {
		t.Error("too few are known")
	}
	f.checkUnlock(t, table, syms)
}

// checkUnlock compares where the mutex is with what the instructions of each copy say.
func (f *elfFile) checkUnlock(t *testing.T, table *gotypes.Table, syms *kallsyms.Table) {
	t.Helper()
	const name, test = "sync.(*Mutex).Unlock", 0x84
	sym, err := syms.Addr(name)
	if err != nil {
		t.Fatal(err)
	}
	callee, err := syms.Addr("internal/" + name)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := f.lines()
	if err != nil {
		t.Fatal(err)
	}
	text := f.view.Section(".text")
	code, err := text.Data()
	if err != nil {
		t.Fatal(err)
	}
	right, wrong, spots := 0, 0, table.Copies(sym.Addr)
	for i, p := range lines.Copies(func(have string) bool { return have == name }) {
		if len(spots[i]) == 0 || len(spots[i][0].Regs) == 0 {
			continue
		}
		reg, at := int8(spots[i][0].Regs[0]), p.Spans[0].Begin
		insn.Walk(code[at-text.Addr:], func(off int, in insn.Inst) bool {
			m, _ := in.MemOperand()
			switch {
			case in.Map == insn.Map1B && in.Opcode == test && m.Base == reg && m.Disp == 0:
				return true
			case in.Flow == insn.Call && in.Target(at+uint64(off)) == callee.Addr && reg == 0:
				right++
			default:
				wrong++
				t.Logf("%s+%#x: the mutex is not in register %d", p.Func.Name(), at-p.Func.Addr, reg)
			}
			return false
		})
	}
	if t.Logf("%d copies of %s, of %d, call with their argument", right, name, len(spots)); right < 400 || wrong > 0 {
		t.Errorf("%d do not", wrong)
	}
}
