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

// TestAsReadelfSays compares where the CFA is with what readelf says, for each row of libc's table.
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
	rows, wrong := 0, 0
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) < 3 || len(f[0]) != 16 {
			continue
		}
		pc, err := strconv.ParseUint(f[0], 16, 64)
		if err != nil || pc == 0 { // what entries share
			continue
		}
		rows++
		if got := show(table, pc); got != f[1] {
			if wrong++; wrong < 10 {
				t.Errorf("%#x: %s, want %s", pc, got, f[1])
			}
		}
	}
	if t.Logf("%d rows of %d entries", rows, table.Len()); rows < 5000 || wrong > 0 {
		t.Errorf("%d of %d rows differ", wrong, rows)
	}
}

var names = []string{"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "ra"}

// show prints where the CFA is, as readelf does.
func show(table *Table, pc uint64) string {
	e, ok := table.Find(pc)
	if !ok {
		return "no entry"
	}
	row, err := e.Row(pc)
	if err != nil {
		return err.Error()
	}
	if !row.Known {
		return "exp"
	}
	return fmt.Sprintf("%s%+d", names[row.Reg], row.Offset)
}

// TestOperations runs a program that has each operation.
func TestOperations(t *testing.T) {
	const rbx, rbp, rdi, r8 = 3, 6, 5, 8
	c := &common{codeAlign: 1, dataAlign: -8, ra: rip, code: []byte{0x0c, RSP, 8, 0x80 | rip, 1, 0x80 | rbx, 3}}
	e := Entry{Begin: 0x1000, End: 0x1100, common: c, code: []byte{
		0x80 | rbx, 2, 0x05, rbp, 4, // offset, offset_extended
		0x41,             // advance 1
		0xc0 | rbx, 0x0a, // restore, remember_state
		0x07, rbx, 0x09, rbp, 0, 0x0e, 32, // undefined, register, def_cfa_offset
		0x02, 1, 0x0b, // advance_loc1, restore_state
		0x03, 1, 0, 0x06, rbp, 0x0d, rbp, // advance_loc2, restore_extended, def_cfa_register
		0x04, 1, 0, 0, 0, 0x11, rbx, 0x7f, 0x14, r8, 2, 0x13, 0x7e, // advance_loc4, offset_extended_sf, val_offset, def_cfa_offset_sf
		0x41, 0x08, rbx, 0x12, rdi, 0x7d, 0x2e, 5, // same_value, def_cfa_sf, GNU_args_size
		0x41, 0x10, rbx, 2, 0x0b, 0x0b, 0x16, rbx, 1, 0x0b, 0x0f, 2, 0x0b, 0x0b, // expression, val_expression, def_cfa_expression
		0x41, 0x0c, RSP, 0x80, 1, // def_cfa of two bytes
	}}
	for pc, want := range []string{"rsp+8", "rsp+32", "rsp+8", "rbp+8", "rbp+16", "rdi+24", "exp", "rsp+128"} {
		if got := show(&Table{[]Entry{e}}, 0x1000+uint64(pc)); got != want {
			t.Errorf("+%d: %s, want %s", pc, got, want)
		}
	}
	for _, bad := range [][]byte{{0x0b}, {0x01}, {0x17, 0}, {0x0e}, bytes.Repeat([]byte{0x0a}, maxSaved+1), make([]byte, maxProgram)} {
		e.code = bad
		if _, err := e.Row(0x1000); !errors.Is(err, ErrFormat) {
			t.Errorf("% x: %v", bad[:min(len(bad), 20)], err)
		}
	}
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
			e.Row(e.End - 1)
		}
	}
	if refused == 0 || refused == 300 {
		t.Errorf("%d of 300 are refused", refused)
	}
}
