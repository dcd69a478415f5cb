package gotypes

import (
	"errors"
	"reflect"
	"slices"
	"syscall"
	"testing"
)

// sample has a method with a receiver, a slice and two results.
func sample() (*Info, []Entry) {
	types := []Desc{
		{},
		{Name: "int", Kind: reflect.Int, Size: 8},
		{Name: "*x/p.T", Kind: reflect.Pointer, Elem: 3},
		{Name: "x/p.T", Kind: reflect.Struct, Size: 32, Fields: []Field{{"next", 2, 0}, {"n", 1, 8}, {"name", 5, 16}}},
		{Name: "[]int", Kind: reflect.Slice, Size: 24, Elem: 1},
		{Name: "string", Kind: reflect.String, Size: 16},
	}
	funcs := []Func{
		{0x1000, []Param{{"t", 2}, {"list", 4}}, []Param{{"~r0", 1}, {"~r1", 5}}, [][]Spot{nil, {{Regs: []uint8{2}}, {OnStack: true, Stack: 40}}, {{}, {Regs: []uint8{0, 15, 12}}}}},
		{0x1020, []Param{{"t", 2}}, nil, nil},
	}
	return &Info{types, funcs}, []Entry{{0x1000, "x/p.(*T).Add"}, {0x1010, "x/p.asm"}, {0x1020, "x/p.(*T).Reset"}}
}

func packed(t testing.TB) ([]byte, []Entry) {
	t.Helper()
	info, entries := sample()
	blob, err := Encode(info, entries, Memory{})
	if err != nil {
		t.Fatal(err)
	}
	return blob, entries
}

func TestTable(t *testing.T) {
	blob, entries := packed(t)
	table, err := Load(blob, entries, Memory{})
	if err != nil {
		t.Fatal(err)
	}
	c, ok := table.Func(0x1000)
	if !ok || c.Args[0].Place.String() != "AX" || c.Args[1].Place.String() != "BX CX DI" || c.Results[1].Place.String() != "BX CX" {
		t.Errorf("%+v", c)
	}
	if c.Args[1].Name != "list" || table.Type(c.Args[1].Type).Name != "[]int" {
		t.Errorf("%+v", c.Args[1])
	}
	info, _ := sample()
	if got := table.Copies(0x1000); !reflect.DeepEqual(got, info.Funcs[0].Copies) {
		t.Errorf("%+v, want %+v", got, info.Funcs[0].Copies)
	}
	if got := table.Copies(0x1020); got != nil {
		t.Errorf("%+v of a function without copies", got)
	}
	if _, ok := table.Func(0x1010); ok {
		t.Error("something is known of an assembly function")
	}
	id, err := table.Named("p.T")
	if err != nil || table.Type(id).Size != 32 {
		t.Error(id, err)
	}
	if _, err := table.Named("nix"); !errors.Is(err, syscall.ENOENT) {
		t.Error(err)
	}
}

func TestEncodeRefusesAnotherLayout(t *testing.T) {
	info, entries := sample()
	info.Types[3].Fields[2].Offset = 24
	if _, err := Encode(info, entries, Memory{}); err == nil {
		t.Error("a struct with a gap was packed")
	}
}

func TestDamagedTables(t *testing.T) {
	blob, entries := packed(t)
	for i := range blob {
		if _, err := Load(blob[:i], entries, Memory{}); !errors.Is(err, ErrFormat) {
			t.Errorf("%d bytes: %v", i, err)
		}
	}
}

// FuzzLoad: whatever is in the columns, reading ends, and what is read can be asked for.
func FuzzLoad(f *testing.F) {
	info, entries := sample()
	var cols []byte
	blob, _ := Encode(info, entries, Memory{})
	cols = unpacked(blob)
	f.Add(cols)
	f.Fuzz(func(t *testing.T, data []byte) {
		table, err := Load(repacked(data), entries, Memory{})
		if err != nil {
			if !errors.Is(err, ErrFormat) {
				t.Error(err)
			}
			return
		}
		for _, e := range entries {
			if c, ok := table.Func(e.Addr); ok {
				for _, a := range c.Args {
					_ = a.Place.String() + table.Type(a.Type).Name
				}
				for _, spots := range table.Copies(e.Addr) {
					if spots != nil && len(spots) != len(c.Args) {
						t.Errorf("%d places of %d arguments", len(spots), len(c.Args))
					}
				}
			}
		}
	})
}

// TestRow: in a row, each argument begins at a multiple of 8 bytes, and a piece is where the type has it.
func TestRow(t *testing.T) {
	blob, entries := packed(t)
	table, err := Load(blob, entries, Memory{})
	if err != nil {
		t.Fatal(err)
	}
	c, _ := table.Func(0x1000)
	pieces, size := table.Row(c.Args)
	want := []Piece{{Reg: AX, Size: 8}, {Reg: BX, Offset: 8, Size: 8}, {Reg: CX, Offset: 16, Size: 8}, {Reg: DI, Offset: 24, Size: 8}}
	if size != 32 || !slices.Equal(pieces, want) {
		t.Errorf("%d bytes: %+v", size, pieces)
	}
	id := func(name string) ID {
		id, err := table.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	pair := Arg{Param{"pair", id("p.T")}, Place{Regs: []Reg{CX, DI, SI, R8}}}
	stack := Arg{Param{"many", id("string")}, Place{OnStack: true, Stack: 24}}
	pieces, size = table.Row([]Arg{{Param{"dictionary", 0}, Place{Regs: []Reg{AX}}}, pair, stack})
	want = []Piece{{Reg: AX, Size: 8}, {Reg: CX, Offset: 8, Size: 8}, {Reg: DI, Offset: 16, Size: 8}, {Reg: SI, Offset: 24, Size: 8}, {Reg: R8, Offset: 32, Size: 8},
		{OnStack: true, Stack: 24, Offset: 40, Size: 16}}
	if size != 56 || !slices.Equal(pieces, want) {
		t.Errorf("%d bytes: %+v", size, pieces)
	}
}
