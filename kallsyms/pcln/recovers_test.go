package pcln_test

import (
	"debug/elf"
	"errors"
	"os"
	"reflect"
	"runtime"
	"testing"

	"sonde/kallsyms/pcln"
)

//go:noinline
func recovers(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}

// TestRecoversOfThisProgram looks at the code where recovers continues: a call.
func TestRecoversOfThisProgram(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("this program is not x86-64")
	}
	if recovers(func() { panic(1) }) != 1 {
		t.Fatal("not recovered")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.Open(exe)
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	text, pclntab := f.Section(".text"), f.Section(".gopclntab")
	code, err1 := text.Data()
	lines, err2 := pclntab.Data()
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	table, err := pcln.Load(lines, nil, text.Addr)
	if err != nil {
		t.Fatal(err)
	}
	found, err := table.Recovers()
	if err != nil {
		t.Fatal(err)
	}
	entry := uint64(reflect.ValueOf(recovers).Pointer())
	mine := 0
	for _, a := range found {
		if code[a-text.Addr] != 0xe8 {
			t.Errorf("at %#x is % x, not a call", a, code[a-text.Addr:][:5])
		}
		if a > entry && a < entry+0x200 {
			mine++
		}
	}
	if t.Logf("%d functions recover", len(found)); mine == 0 || len(found) < 20 {
		t.Errorf("%d functions in all, recovers is at %#x", len(found), entry)
	}
}
