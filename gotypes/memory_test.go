package gotypes

import (
	"encoding/binary"
	"errors"
	"reflect"
	"testing"
)

// sampleMemory is a Memory that has the struct x/p.N, with a field next of type *x/p.N, at 64 and that pointer at 192.
func sampleMemory() Memory {
	m, data := Memory{Base: 0x4000}, make([]byte, 320)
	put := func(off int, v uint64) { binary.LittleEndian.PutUint64(data[off:], v) }
	name := func(off int, s string) { data[off+1] = byte(len(s)); copy(data[off+2:], s) }
	name(8, "*p.N")
	name(20, "x/p")
	name(30, "next")
	put(64, 8)
	data[64+rtFlags] = flagNamed | flagUncommon | flagStar
	data[64+rtKind] = byte(reflect.Struct)
	data[64+rtName] = 8
	put(64+rtNext, m.Base+280)
	put(64+rtCount, 1)
	data[64+behind[reflect.Struct]] = 20
	put(192, 8)
	data[192+rtKind] = byte(reflect.Pointer)
	data[192+rtName] = 8
	put(192+rtElem, m.Base+64)
	put(280, m.Base+30)
	put(288, m.Base+192)
	put(304, m.Base+192) // the second word of a table of methods at 296
	m.Data = string(data)
	return m
}

// TestHeld: the type is found by its address, and by that of a table of methods.
func TestHeld(t *testing.T) {
	m := sampleMemory()
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
		blob, err := Encode(&Info{types, []Func{{0x1000, []Param{{"n", 1}}, nil, nil}}}, entries, m)
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
	f.Fuzz(func(t *testing.T, data string, off uint32) {
		Memory{Base: 0x4000, Data: data}.describe(off)
	})
}
