package gotypes

import (
	"encoding/binary"
	"errors"
	"reflect"
	"testing"
)

// sampleMemory is a Memory that has the struct x/p.N, with a field next of type *x/p.N, at 64 and that pointer at 192.
func sampleMemory() Memory {
	m := Memory{Base: 0x4000, Data: make([]byte, 320)}
	put := func(off int, v uint64) { binary.LittleEndian.PutUint64(m.Data[off:], v) }
	name := func(off int, s string) { m.Data[off+1] = byte(len(s)); copy(m.Data[off+2:], s) }
	name(8, "*p.N")
	name(20, "x/p")
	name(30, "next")
	put(64, 8)
	m.Data[64+rtFlags] = flagNamed | flagUncommon | flagStar
	m.Data[64+rtKind] = byte(reflect.Struct)
	m.Data[64+rtName] = 8
	put(64+rtNext, m.Base+280)
	put(64+rtCount, 1)
	m.Data[64+behind[reflect.Struct]] = 20
	put(192, 8)
	m.Data[192+rtKind] = byte(reflect.Pointer)
	m.Data[192+rtName] = 8
	put(192+rtElem, m.Base+64)
	put(280, m.Base+30)
	put(288, m.Base+192)
	return m
}

// TestHeld: the type is found by its address, and by that of a table of methods.
func TestHeld(t *testing.T) {
	m := sampleMemory()
	binary.LittleEndian.PutUint64(m.Data[304:], m.Base+192) // the second word of the table at 296
	for at, want := range map[uint64]string{m.Base + 64: "p.N", m.Base + 192: "p.N", m.Base + 296: "p.N",
		0: "", m.Base - 8: "", m.Base + 297: "", m.Base + 312: "", m.Base: "", m.Base + 320: "", ^uint64(7): ""} {
		if got := m.Held(at); got != want {
			t.Errorf("%#x: %q, want %q", at, got, want)
		}
	}
}

// TestDescribed packs a type that the runtime describes, and one of the same name with another field.
func TestDescribed(t *testing.T) {
	m := sampleMemory()
	entries := []Entry{{0x1000, "x/p.f"}}
	for _, field := range []string{"next", "other"} {
		types := []Desc{{}, {Kind: reflect.Pointer, Elem: 2, Runtime: 192}, {Name: "x/p.N", Kind: reflect.Struct, Size: 8, Fields: []Field{{field, 1, 0}}}}
		blob, err := Encode(&Info{types, []Func{{0x1000, []Param{{"n", 1}}, nil, nil}}, nil}, entries, m)
		if err != nil {
			t.Fatal(err)
		}
		table, err := Load(blob, entries, m)
		if err != nil {
			t.Fatal(err)
		}
		c, _ := table.Func(0x1000)
		if args, _ := table.Text(c); len(args) != 1 || args[0] != "n *p.N AX" {
			t.Errorf("%s: %v", field, args)
		}
		if id, err := table.Named("p.N"); err != nil || table.Type(id).Fields[0].Name != field {
			t.Errorf("%s: %v %v", field, table.Type(id), err)
		}
		_, err = Load(blob, entries, Memory{})
		if needs := field == "next"; errors.Is(err, ErrFormat) != needs {
			t.Errorf("%s: without the memory: %v", field, err)
		}
	}
}

// FuzzDescribe: whatever is in memory, reading ends in it.
func FuzzDescribe(f *testing.F) {
	f.Add(sampleMemory().Data, uint32(64))
	f.Add(sampleMemory().Data, uint32(192))
	f.Fuzz(func(t *testing.T, data []byte, off uint32) {
		Memory{Base: 0x4000, Data: data}.describe(off)
	})
}

// TestNamesOfTheRuntime: an argument that is called as a field, or as one with a large first letter, is not spelt.
func TestNamesOfTheRuntime(t *testing.T) {
	m := sampleMemory()
	copy(m.Data[32:], "Next")
	size := map[string]int{}
	for _, name := range []string{"Next", "next", "prev"} {
		types := []Desc{{}, {Kind: reflect.Pointer, Elem: 2, Runtime: 192}, {Name: "x/p.N", Kind: reflect.Struct, Size: 8, Fields: []Field{{"Next", 1, 0}}}}
		entries := []Entry{{0x1000, "x/p.f"}}
		blob, err := Encode(&Info{types, []Func{{0x1000, []Param{{name, 1}}, nil, nil}}, nil}, entries, m)
		if err != nil {
			t.Fatal(err)
		}
		table, err := Load(blob, entries, m)
		if err != nil {
			t.Fatal(err)
		}
		if params, _, ok := table.Declaration(0x1000); !ok || len(params) != 1 || params[0].Name != name {
			t.Errorf("%s: %v", name, params)
		}
		size[name] = len(blob)
	}
	if size["Next"] >= size["prev"] || size["next"] >= size["prev"] {
		t.Errorf("bytes: %v", size)
	}
}
