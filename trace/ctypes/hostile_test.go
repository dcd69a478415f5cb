package ctypes

import (
	"bytes"
	"encoding/binary"
	"runtime/debug"
	"testing"
)

// Abbreviations of entries that no compiler makes.
//
// Source: DWARF 4, §7.5.3.
const (
	aUnit = 1 + iota
	aStruct
	aMember
	aNameless
	aDeclared
)

var abbreviations = []byte{
	aUnit, 0x11, 1, 0, 0,
	aStruct, 0x13, 1, 0x03, 0x08, 0x0b, 0x0b, 0, 0, // name, size
	aMember, 0x0d, 0, 0x49, 0x13, 0x38, 0x0b, 0, 0, // type, place
	aNameless, 0x13, 1, 0, 0,
	aDeclared, 0x13, 0, 0x03, 0x08, 0x3c, 0x19, 0, 0, // name
	0,
}

// unit opens one unit with these entries. The first one is at the offset 12.
func unit(t *testing.T, entries ...byte) *File {
	t.Helper()
	info := binary.LittleEndian.AppendUint32(nil, uint32(8+len(entries)))
	info = append(info, 4, 0, 0, 0, 0, 0, 8, aUnit)
	f, err := Open(map[string][]byte{".debug_info": append(info, entries...), ".debug_abbrev": abbreviations})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestInItself: what is in itself is left out, at any distance.
func TestInItself(t *testing.T) {
	f := unit(t,
		aStruct, 'a', 0, 8, aMember, 23, 0, 0, 0, 0, 0, // at 12: b, at 23
		aStruct, 'b', 0, 8, aMember, 12, 0, 0, 0, 0, aMember, 23, 0, 0, 0, 0, 0, 0)
	for _, name := range []string{"a", "b"} {
		of, err := f.Named(name)
		if err != nil {
			t.Fatalf("there is no %s", name)
		}
		walk(of, 1)
		if m := of.To.Field("x"); m != nil {
			t.Errorf("%s.x: %+v", name, m)
		}
	}
}

// TestDeclared: a structure that is only declared is looked for elsewhere.
func TestDeclared(t *testing.T) {
	f := unit(t,
		aDeclared, 'a', 0, // at 12
		aStruct, 'b', 0, 8, aMember, 12, 0, 0, 0, 4, 0,
		aStruct, 'a', 0, 4, 0, 0)
	of, err := f.Named("b")
	if err != nil || len(of.To.All()) != 1 || of.To.All()[0].Type.Bytes != 4 {
		t.Errorf("%v %+v", err, of.To)
	}
}

// TestDeep: a million levels are read without as many calls.
func TestDeep(t *testing.T) {
	const levels = 1 << 20
	defer debug.SetMaxStack(debug.SetMaxStack(1 << 20))
	f := unit(t, append(bytes.Repeat([]byte{aNameless}, levels), make([]byte, levels+1)...)...)
	if len(f.types) != 0 {
		t.Errorf("types: %v", f.types)
	}
}

// TestNested: of a structure in a structure, a hundred thousand times, the innermost are left out.
func TestNested(t *testing.T) {
	const each = 11
	var all []byte
	for i := range 100_000 {
		all = append(all, aStruct, 'a', 0, 8, aMember)
		all = append(binary.LittleEndian.AppendUint32(all, uint32(12+each*(i+1))), 0, 0)
	}
	f := unit(t, append(all, aStruct, 'b', 0, 8, 0, 0)...)
	defer debug.SetMaxStack(debug.SetMaxStack(1 << 20))
	of, err := f.Named("a")
	if err != nil || len(of.To.All()) > 1 {
		t.Errorf("%v %+v", err, of)
	}
}
