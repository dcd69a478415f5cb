package cfi

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const libc = "/lib/x86_64-linux-gnu/libc.so.6"

func section(t testing.TB, file string) ([]byte, uint64) {
	t.Helper()
	f, err := elf.Open(file)
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	s := f.Section(".eh_frame")
	b, err := s.Data()
	if err != nil {
		t.Fatal(err)
	}
	return b, s.Addr
}

// TestAsReadelfSays compares each row of libc's table with readelf's.
func TestAsReadelfSays(t *testing.T) {
	tool, err := exec.LookPath("readelf")
	if err != nil {
		t.Skip("readelf (binutils) is not installed")
	}
	b, addr := section(t, libc)
	table, err := Parse(b, addr)
	if err != nil {
		t.Fatal(err)
	}
	out, _ := exec.Command(tool, "--debug-dump=frames-interp", "--wide", libc).Output() // it warns of what it does not find
	var head []string
	rows, wrong := 0, 0
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		switch {
		case len(f) > 2 && f[0] == "LOC":
			head = f[2:]
		case len(f) != len(head)+2 || len(f[0]) != 16 || len(f) < 3:
		default:
			pc, err := strconv.ParseUint(f[0], 16, 64)
			if err != nil || pc == 0 { // what entries share
				continue
			}
			rows++
			if got, want := show(table, pc, head), strings.Join(f[1:], " "); got != want {
				if wrong++; wrong < 10 {
					t.Errorf("%#x %v: %s, want %s", pc, head, got, want)
				}
			}
		}
	}
	if t.Logf("%d rows of %d entries", rows, table.Len()); rows < 5000 || wrong > 0 {
		t.Errorf("%d of %d rows differ", wrong, rows)
	}
}

var names = []string{"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "ra"}

// show prints a row as readelf does.
func show(table *Table, pc uint64, head []string) string {
	e, ok := table.Find(pc)
	if !ok {
		return "no entry"
	}
	row, err := e.Row(pc)
	if err != nil {
		return err.Error()
	}
	cfa := "exp"
	if row.CFA.Kind == In {
		cfa = fmt.Sprintf("%s%+d", names[row.CFAReg], row.CFA.Offset)
	}
	all := []string{cfa}
	for _, h := range head {
		r := row.Reg[slices.Index(names, h)]
		switch r.Kind {
		case At:
			all = append(all, fmt.Sprintf("c%+d", r.Offset))
		case AtExpr:
			all = append(all, "exp")
		case IsExpr:
			all = append(all, "vexp")
		case Same:
			all = append(all, "u")
		default:
			all = append(all, "u")
		}
	}
	return strings.Join(all, " ")
}

// TestCaller leaves a frame by each kind of rule.
func TestCaller(t *testing.T) {
	mem := map[uint64]uint64{0x1000: 0x401234, 0xff8: 7, 0x2000: 9}
	load := func(a uint64) (uint64, bool) { v, ok := mem[a]; return v, ok }
	row := Row{CFA: Rule{Kind: In, Offset: 16}, CFAReg: RSP}
	row.Reg[RIP] = Rule{At, -8, nil}
	row.Reg[RBP] = Rule{At, -16, nil}
	row.Reg[RBX] = Rule{In, RAX, nil}
	row.Reg[R8] = Rule{Is, 8, nil}
	row.Reg[R8+1] = Rule{AtExpr, 0, []byte{opBreg0 + RDI, 0x80, 0x20}}                           // [RDI+0x1000]
	row.Reg[R8+2] = Rule{IsExpr, 0, []byte{opLit0 + 5, opMinus, opUconst, 1, opLit0 + 2, opShl}} // (CFA-5+1)<<2
	s := State{Load: load}
	s.Reg[RSP], s.Reg[RAX], s.Reg[RDI], s.Reg[RSI] = 0xff8, 3, 0x1000, 4
	ok, err := row.Caller(&s)
	want := map[int]uint64{RSP: 0x1008, RIP: 0x401234, RBP: 7, RBX: 3, R8: 0x1010, R8 + 1: 9, R8 + 2: (0x1008 - 4) << 2, RSI: 4}
	for n, v := range want {
		if s.Reg[n] != v || !ok || err != nil {
			t.Errorf("%s: %#x, want %#x; %v, %v", names[n], s.Reg[n], v, ok, err)
		}
	}
	delete(mem, 0x1000)
	before := s.Reg
	s.Reg[RSP] = 0xff8
	before[RSP] = 0xff8
	if ok, err := row.Caller(&s); ok || err != nil || s.Reg != before {
		t.Errorf("without its memory: %v, %v", ok, err)
	}
	row.Reg[RIP] = Rule{Kind: Undefined}
	if ok, err := row.Caller(&s); ok || err != nil {
		t.Errorf("the outermost: %v, %v", ok, err)
	}
	row.CFA = Rule{IsExpr, 0, []byte{opPlus}}
	if _, err := row.Caller(&s); !errors.Is(err, ErrFormat) {
		t.Error(err)
	}
}

// TestOperations runs a program that has each operation that sets a rule.
func TestOperations(t *testing.T) {
	c := &common{codeAlign: 1, dataAlign: -8, ra: RIP, code: []byte{0x0c, RSP, 8, 0x80 | RIP, 1, 0x80 | RBX, 3}}
	e := Entry{Begin: 0x1000, End: 0x1100, common: c, code: []byte{
		0x80 | RBX, 2, 0x05, RBP, 4, // offset, offset_extended
		0x41,             // advance 1
		0xc0 | RBX, 0x0a, // restore, remember_state
		0x07, RBX, 0x09, RBP, RAX, 0x0e, 32, // undefined, register, def_cfa_offset
		0x02, 1, 0x0b, // advance_loc1, restore_state
		0x03, 1, 0, 0x06, RBP, 0x0d, RBP, // advance_loc2, restore_extended, def_cfa_register
		0x04, 1, 0, 0, 0, 0x11, RBX, 0x7f, 0x14, R8, 2, 0x13, 0x7e, // advance_loc4, offset_extended_sf, val_offset, def_cfa_offset_sf
		0x41, 0x08, RBX, 0x12, RDI, 0x7d, 0x2e, 5, // same_value, def_cfa_sf, GNU_args_size
	}}
	for pc, want := range []string{
		"rsp+8 rbx c-16 rbp c-32 ra c-8",
		"rsp+32 rbx undefined rbp rax ra c-8",
		"rsp+8 rbx c-24 rbp c-32 ra c-8",
		"rbp+8 rbx c-24 ra c-8",
		"rbp+16 rbx c+8 r8 =c-16 ra c-8",
		"rdi+24 r8 =c-16 ra c-8",
	} {
		row, err := e.Row(0x1000 + uint64(pc))
		if got := all(&row); err != nil || got != want {
			t.Errorf("+%d: %s, %v; want %s", pc, got, err, want)
		}
	}
	for _, bad := range [][]byte{{0x0b}, {0x01}, {0x17, 0}, {0x0e}, bytes.Repeat([]byte{0x0a}, maxSaved+1), make([]byte, maxProgram)} {
		e.code = bad
		if _, err := e.Row(0x1000); !errors.Is(err, ErrFormat) {
			t.Errorf("% x: %v", bad[:min(len(bad), 20)], err)
		}
	}
}

// all prints the rules that are not Same.
func all(row *Row) string {
	s := fmt.Sprintf("%s%+d", names[row.CFAReg], row.CFA.Offset)
	for _, n := range []int{RBX, RBP, R8, RIP} {
		switch r := row.Reg[n]; r.Kind {
		case At:
			s += fmt.Sprintf(" %s c%+d", names[n], r.Offset)
		case Is:
			s += fmt.Sprintf(" %s =c%+d", names[n], r.Offset)
		case In:
			s += fmt.Sprintf(" %s %s", names[n], names[r.Offset])
		case Undefined:
			s += " " + names[n] + " undefined"
		}
	}
	return s
}

// TestWhateverTheTableHolds cuts a real one, and changes bytes of it: there is an answer.
func TestWhateverTheTableHolds(t *testing.T) {
	exe := libc
	if _, err := os.Stat(exe); err != nil {
		t.Skip(err)
	}
	whole, addr := section(t, exe)
	whole = whole[:5000]
	complete := 0
	for n := range whole {
		if _, err := Parse(whole[:n], addr); err == nil {
			complete = n
		}
	}
	whole = whole[:complete]
	rng := rand.New(rand.NewPCG(1, 2))
	refused := 0
	for range 300 {
		b := slices.Clone(whole)
		for range 1 + rng.IntN(5) {
			b[rng.IntN(len(b))] = byte(rng.Uint32())
		}
		table, err := Parse(b, addr)
		if err != nil {
			refused++
			continue
		}
		for i := range table.entries {
			e := &table.entries[i]
			if row, err := e.Row(e.End - 1); err == nil {
				row.Caller(&State{Load: func(uint64) (uint64, bool) { return 1, true }})
			}
		}
	}
	if refused == 0 || refused == 300 {
		t.Errorf("%d of 300 are refused", refused)
	}
}
