package btf

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"sonde/bpf"
)

// block is the records of one section of code.
type block struct {
	name    uint32 // offset of the string
	size    uint32 // bytes of a record
	count   uint32
	records []uint32
}

// writeExt returns a .BTF.ext with a block of each kind.
func writeExt(funcs, lines, relos block) []byte {
	var body []byte
	head := []byte{0x9F, 0xEB, version, 0, extFull, 0, 0, 0}
	for _, g := range []block{funcs, lines, relos} {
		at := len(body)
		body = words(words(body, g.size, g.name, g.count), g.records...)
		head = words(head, uint32(at), uint32(len(body)-at))
	}
	return append(head, body...)
}

// extTable returns types, and where strings are in their section.
func extTable(t *testing.T) (*Table, func(string) uint32) {
	t.Helper()
	long := strings.Repeat("x", 2*maxLineText)
	b := NewBuilder()
	b.Add(number)
	b.Add(proto)
	b.Add(Type{Kind: Func, Name: "f", Of: 2, Linkage: Global})
	for _, s := range []string{"kprobe/f", "a.c", "\treturn 0;", "0:1:2", "0:-1", long} {
		b.intern(s)
	}
	data, err := b.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	table, err := Read(data)
	if err != nil {
		t.Fatal(err)
	}
	return table, func(s string) uint32 {
		i := strings.Index(table.strings, "\x00"+s)
		if i < 0 {
			t.Fatalf("no string %q", s)
		}
		return uint32(i + 1)
	}
}

func TestReadExt(t *testing.T) {
	table, at := extTable(t)
	sec, file, text := at("kprobe/f"), at("a.c"), at("\treturn")
	data := writeExt(block{sec, 8, 1, []uint32{0, 3}},
		block{sec, 16, 3, []uint32{0, file, text, 7<<lineShift | 9, 16, file, 0, 8 << lineShift, 24, file, at("xx"), 9 << lineShift}},
		block{sec, 16, 2, []uint32{8, 1, at("0:1:2"), 0, 8, 1, at("0:1:2"), 5}})
	e, err := table.ReadExt(data)
	if err != nil {
		t.Fatal(err)
	}
	want := &Ext{map[string][]FuncInfo{"kprobe/f": {{0, 3}}},
		map[string][]bpf.Line{"kprobe/f": {{PC: 0, File: "a.c", Number: 7, Text: "return 0;"}, {PC: 2, File: "a.c", Number: 8},
			{PC: 3, File: "a.c", Number: 9, Text: strings.Repeat("x", maxLineText)}}},
		map[string][]Relocation{"kprobe/f": {{1, 1, []int{0, 1, 2}, FieldOffset}, {1, 1, []int{0, 1, 2}, FieldShiftRight}}}}
	if !reflect.DeepEqual(e, want) {
		t.Errorf("got  %+v\nwant %+v", e, want)
	}
	p := bpf.Program{Lines: e.Lines["kprobe/f"]}
	if l := p.LineOf(2); l == nil || l.Number != 8 {
		t.Errorf("instruction 2 is of line %+v", l)
	}
	short := append(append([]byte(nil), data[:extSize]...), data[extFull:]...)
	short[4] = extSize
	if e, err := table.ReadExt(short); err != nil || len(e.Lines) != 1 || len(e.Relos) != 0 {
		t.Errorf("without relocations: %+v, %v", e, err)
	}
}

// TestReadRecords holds the form of records that PROG_LOAD takes: they count instructions.
func TestReadRecords(t *testing.T) {
	table, at := extTable(t)
	got, err := table.ReadLines(words(nil, 0, at("a.c"), 0, 1<<lineShift, 0, 1, at("a.c"), 0, 2<<lineShift, 0), 20)
	if err != nil || len(got) != 2 || got[1] != (bpf.Line{PC: 1, File: "a.c", Number: 2}) {
		t.Errorf("lines: %+v, %v", got, err)
	}
	funcs, err := table.ReadFuncs(words(nil, 0, 3, 5, 3), 8)
	if err != nil || len(funcs) != 2 || funcs[1] != (FuncInfo{5, 3}) {
		t.Errorf("functions: %+v, %v", funcs, err)
	}
	if _, err := table.ReadFuncs(words(nil, 0, 3, 1), 12); !errors.Is(err, syscall.E2BIG) {
		t.Errorf("a record with more than is known: %v", err)
	}
}

func TestExtRefused(t *testing.T) {
	table, at := extTable(t)
	sec, access := at("kprobe/f"), at("0:1:2")
	for _, c := range []struct {
		name, want          string
		funcs, lines, relos block
	}{
		{"no function", "func_info 0, at instruction 0: it is of type 1 (INT int): expected a FUNC",
			block{sec, 8, 1, []uint32{0, 1}}, block{}, block{}},
		{"function out of range", "func_info 0, at instruction 0: it is of type 4: the last type is 3",
			block{sec, 8, 1, []uint32{0, 4}}, block{}, block{}},
		{"half an instruction", "func_info 0 is at byte 4: expected a multiple of 8, where an instruction begins",
			block{sec, 8, 1, []uint32{4, 3}}, block{}, block{}},
		{"out of order", "func_info 1 is at instruction 0, and the one before it at 0: expected them in order",
			block{sec, 8, 2, []uint32{0, 3, 0, 3}}, block{}, block{}},
		{"size of a record", "func_info: 4 bytes in records of 4: expected a multiple of 4, 8 or more",
			block{sec, 4, 1, []uint32{0}}, block{}, block{}},
		{"size 0", "func_info: 0 bytes in records of 0: expected a multiple of 4, 8 or more",
			block{sec, 0, 1, nil}, block{}, block{}},
		{"missing records", "func_info of kprobe/f: 2 records of 8 bytes, but 8 bytes are left: expected at least one that fits",
			block{sec, 8, 2, []uint32{0, 3}}, block{}, block{}},
		{"section without name", `func_info: the name of a section is "", at offset 0: expected a name, and each once`,
			block{0, 8, 1, []uint32{0, 3}}, block{}, block{}},
		{"section twice", `func_info: the name of a section is "kprobe/f", at offset 9: expected a name, and each once`,
			block{sec, 8, 1, []uint32{0, 3, sec, 1, 0, 3}}, block{}, block{}},
		{"file", "line_info 0, at instruction 0: the file's name is at offset 9999, but the strings have",
			block{sec, 8, 1, []uint32{0, 3}}, block{sec, 16, 1, []uint32{0, 9999, 0, 0}}, block{}},
		{"text", "line_info 0, at instruction 0: the line's text is at offset 9999, but the strings have",
			block{sec, 8, 1, []uint32{0, 3}}, block{sec, 16, 1, []uint32{0, 0, 9999, 0}}, block{}},
		{"relocation of void", "core_relo 0, at instruction 0: it is of void: expected a type",
			block{sec, 8, 1, []uint32{0, 3}}, block{sec, 16, 1, []uint32{0, 0, 0, 0}}, block{sec, 16, 1, []uint32{0, 0, access, 0}}},
		{"kind of a relocation", "core_relo 0, at instruction 0: its kind is 13: expected 0 to 12",
			block{sec, 8, 1, []uint32{0, 3}}, block{sec, 16, 1, []uint32{0, 0, 0, 0}}, block{sec, 16, 1, []uint32{0, 1, access, 13}}},
		{"access", `core_relo 0, at instruction 0: the access is "0:-1": expected at most 64 numbers with : between them`,
			block{sec, 8, 1, []uint32{0, 3}}, block{sec, 16, 1, []uint32{0, 0, 0, 0}}, block{sec, 16, 1, []uint32{0, 1, at("0:-1"), 0}}},
	} {
		_, err := table.ReadExt(writeExt(c.funcs, c.lines, c.relos))
		if err == nil {
			t.Errorf("%s: accepted", c.name)
		} else if !strings.Contains(err.Error(), c.want) || !errors.Is(err, syscall.EINVAL) {
			t.Errorf("%s:\ngot  %v\nwant %s", c.name, err, c.want)
		}
	}
	whole := writeExt(block{sec, 8, 1, []uint32{0, 3}}, block{sec, 16, 1, []uint32{0, 0, 0, 0}}, block{sec, 16, 1, []uint32{0, 1, access, 0}})
	if _, err := table.ReadExt(whole); err != nil {
		t.Errorf("valid: %v", err)
	}
	if _, err := table.ReadExt(whole[:len(whole)-4]); err == nil || !strings.HasSuffix(err.Error(), "core_relo is at 48 to 76: expected a multiple of 4, and at most 72") {
		t.Errorf("relocations that end behind the section: %v", err)
	}
}

// wrap returns a section with these types and strings.
func wrap(types, names []byte) []byte {
	head := words([]byte{0x9F, 0xEB, version, 0}, headerSize, 0, uint32(len(types)), uint32(len(types)), uint32(len(names)))
	return append(append(head, types...), names...)
}

// FuzzRead holds that no bytes make Read or ReadExt panic, that all of what is accepted can be
// printed, and that it is equal when it is written and read again.
func FuzzRead(f *testing.F) {
	data, err := build(zoo)
	if err != nil {
		f.Fatal(err)
	}
	names := bytes.LastIndex(data, []byte("\x00int\x00"))
	f.Add(data[headerSize:names], data[names:], []byte{0x9F, 0xEB, 1, 0, 24, 0, 0, 0})
	f.Add(data[headerSize:names], data[names:],
		writeExt(block{1, 8, 1, []uint32{0, 19}}, block{1, 16, 1, []uint32{0, 1, 1, 0}}, block{1, 16, 1, []uint32{0, 1, 1, 0}}))
	f.Fuzz(func(t *testing.T, types, names, ext []byte) {
		Read(ext)
		data := wrap(types, names)
		if object, err := ReadObject(data); err == nil {
			object.ReadExt(ext)
			object.Text(ID(object.Len() - 1))
		}
		table, err := Read(data)
		if err != nil {
			return
		}
		for id := range ID(table.Len()) {
			table.Text(id)
			if under := table.Type(table.Underlying(id)); under.Kind.isModifier() {
				t.Fatalf("under type %d is a %s", id, under.Kind)
			}
		}
		again, err := build(table.types[1:])
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		if second, err := Read(again); err != nil || !reflect.DeepEqual(second.types, table.types) {
			t.Fatalf("what was read is different when it is written: %v", err)
		}
	})
}
