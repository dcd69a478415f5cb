package btf

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// zoo is types of all kinds; their ids are their indices and 1 more.
var zoo = []Type{
	{Kind: Int, Name: "int", Size: 4, Encoding: Signed, Bits: 32},
	{Kind: Int, Name: "char", Size: 1, Encoding: Char, Bits: 8},
	{Kind: Const, Of: 2},
	{Kind: Ptr, Of: 3},
	{Kind: Array, Of: 4, Index: 1, Count: 3},
	{Kind: Struct, Name: "node", Size: 48, Members: []Member{{Name: "next", Type: 7}, {Name: "words", Type: 5, Offset: 64}, {Type: 8, Offset: 256}, {Name: "low", Type: 1, Offset: 320, Bits: 3}, {Name: "high", Type: 1, Offset: 323, Bits: 29}}},
	{Kind: Ptr, Of: 6},
	{Kind: Union, Size: 8, Members: []Member{{Name: "f", Type: 9}, {Name: "e", Type: 10}}},
	{Kind: Float, Name: "double", Size: 8},
	{Kind: Enum, Name: "sign", Size: 4, Flag: true, Values: []Value{{"MINUS", ^uint64(0)}, {"PLUS", 1}}},
	{Kind: Enum64, Name: "big", Size: 8, Values: []Value{{"HUGE", 1 << 63}, {"NONE", 0}}},
	{Kind: Fwd, Name: "hidden"},
	{Kind: Fwd, Name: "either", Flag: true},
	{Kind: Typedef, Name: "node_t", Of: 6},
	{Kind: Volatile, Of: 14},
	{Kind: Ptr, Of: 15},
	{Kind: Restrict, Of: 16},
	{Kind: FuncProto, Of: 1, Params: []Param{{"where", 17}, {"what", 4}, {}}},
	{Kind: Func, Name: "put", Of: 18, Linkage: Global},
	{Kind: Var, Name: "total", Of: 1, Linkage: Static},
	{Kind: Datasec, Name: ".bss", Size: 8, Variables: []Variable{{20, 4, 4}}},
	{Kind: DeclTag, Name: "counted", Of: 6, Component: 1},
	{Kind: TypeTag, Name: "user", Of: 2},
	{Kind: Ptr, Of: 23},
	{Kind: Ptr, Of: 18},
	{Kind: Array, Of: 25, Index: 1, Count: 2},
	{Kind: Const, Of: 25},
	{Kind: Ptr, Of: 12},
	{Kind: FuncProto, Of: 28},
	{Kind: Enum, Size: 1, Values: []Value{{"A", 200}}},
}

// build returns the section with these types, in this order, if they fit together.
func build(types []Type) ([]byte, error) {
	b := NewBuilder()
	for range types {
		b.Declare()
	}
	for i, x := range types {
		b.Define(ID(i+1), x)
	}
	data, err := b.Bytes()
	if err == nil {
		_, err = Read(data)
	}
	return data, err
}

func mustRead(t *testing.T, types []Type) (*Table, []byte) {
	t.Helper()
	data, err := build(types)
	if err != nil {
		t.Fatal(err)
	}
	table, err := Read(data)
	if err != nil {
		t.Fatal(err)
	}
	return table, data
}

func TestRoundTrip(t *testing.T) {
	table, data := mustRead(t, zoo)
	seen := map[Kind]bool{}
	for i := range zoo {
		seen[zoo[i].Kind] = true
		if got := table.Type(ID(i + 1)); !reflect.DeepEqual(*got, zoo[i]) {
			t.Errorf("type %d is %+v, and was %+v", i+1, *got, zoo[i])
		}
	}
	if len(seen) != int(numKinds)-1 || table.Len() != len(zoo)+1 {
		t.Errorf("%d kinds, %d types: expected all of %d, and %d", len(seen), table.Len()-1, numKinds-1, len(zoo))
	}
	if cap(table.types) != len(zoo)+1 {
		t.Errorf("there is room for %d types: expected %d", cap(table.types), len(zoo)+1)
	}
	if again, err := build(table.types[1:]); err != nil || !bytes.Equal(again, data) {
		t.Errorf("what was read is written as %d other bytes (%v)", len(again), err)
	}
}

// TestBytes holds the format itself: a section written by hand.
func TestBytes(t *testing.T) {
	const section = "\x9f\xeb\x01\x00\x18\x00\x00\x00\x00\x00\x00\x00\x28\x00\x00\x00\x28\x00\x00\x00\x07\x00\x00\x00" + // header
		"\x01\x00\x00\x00\x00\x00\x00\x01\x04\x00\x00\x00\x20\x00\x00\x01" + // int: signed, 32 bits
		"\x05\x00\x00\x00\x01\x00\x00\x84\x04\x00\x00\x00" + "\x00\x00\x00\x00\x01\x00\x00\x00\x05\x00\x00\x03" + // struct s { int :3 at bit 5 }
		"\x00int\x00s\x00"
	types := []Type{{Kind: Int, Name: "int", Size: 4, Encoding: Signed, Bits: 32},
		{Kind: Struct, Name: "s", Size: 4, Members: []Member{{Type: 1, Offset: 5, Bits: 3}}}}
	table, data := mustRead(t, types)
	if string(data) != section {
		t.Errorf("written:\n%x\nexpected:\n%x", data, section)
	}
	if !reflect.DeepEqual(table.types[1:], types) {
		t.Errorf("read: %+v", table.types[1:])
	}
}

func TestBuilderInterns(t *testing.T) {
	b := NewBuilder()
	number := b.Add(zoo[0])
	node := b.Declare()
	pointer := b.Add(Type{Kind: Ptr, Of: node})
	b.Define(node, Type{Kind: Struct, Name: "int", Size: 16, Members: []Member{{Name: "next", Type: pointer}, {Name: "int", Type: number, Offset: 64}}})
	if again := b.Add(zoo[0]); again != number {
		t.Errorf("the same integer has the ids %d and %d", number, again)
	}
	if again := b.Add(Type{Kind: Ptr, Of: node}); again != pointer {
		t.Errorf("the same pointer has the ids %d and %d", pointer, again)
	}
	data, err := b.Bytes()
	if err != nil || bytes.Count(data, []byte("\x00int\x00")) != 1 {
		t.Errorf("strings are not written once: %q, %v", data, err)
	}
}

func TestNamesAndSizes(t *testing.T) {
	table, _ := mustRead(t, zoo)
	if id, err := table.Find(Struct, "node"); id != 6 || err != nil {
		t.Errorf("struct node is type %d, %v", id, err)
	}
	if _, err := table.Find(Union, "node"); !errors.Is(err, ErrNotFound) || !strings.HasPrefix(err.Error(), "UNION node: ") {
		t.Errorf("union node: %v", err)
	}
	if got := table.Named("counted"); got != nil {
		t.Errorf("a tag is found by its text: %v", got)
	}
	sizes := map[ID]uint32{1: 4, 4: 8, 5: 24, 15: 48, 20: 4, 26: 16, 11: 8}
	for id, want := range sizes {
		if got, ok := table.Size(id); got != want || !ok {
			t.Errorf("type %d takes %d bytes, %v: expected %d", id, got, ok, want)
		}
	}
	for _, id := range []ID{0, 12, 18, 19, 22, 1000, ^ID(0)} {
		if got, ok := table.Size(id); ok {
			t.Errorf("type %d takes %d bytes: expected no size", id, got)
		}
	}
	if table.Underlying(15) != 6 || table.Underlying(27) != 25 || table.Underlying(6) != 6 || table.Underlying(1000) != 1000 {
		t.Error("Underlying does not take off names and qualifiers")
	}
}

func TestText(t *testing.T) {
	table, _ := mustRead(t, zoo)
	for id, want := range map[ID]string{
		0:  "void",
		1:  "int",
		4:  "const char *",
		6:  "struct node {\n\tstruct node *next;\n\tconst char *words[3];\n\tunion {\n\t\tdouble f;\n\t\tenum sign e;\n\t};\n\tint low:3;\n\tint high:29;\n};",
		10: "enum sign {\n\tMINUS = -1,\n\tPLUS = 1,\n};",
		11: "enum big {\n\tHUGE = 9223372036854775808,\n\tNONE = 0,\n};",
		12: "struct hidden;",
		13: "union either;",
		14: "typedef struct node node_t;",
		17: "volatile node_t *restrict",
		18: "int (volatile node_t *restrict where, const char *what, ...)",
		19: "int put(volatile node_t *restrict where, const char *what, ...);",
		20: "static int total;",
		21: "/* section .bss, 8 bytes */\nint total; /* 4 bytes at 4 */",
		22: `/* "counted" on component 1 of type 6 (STRUCT node) */`,
		24: `__attribute__((btf_type_tag("user"))) char *`,
		26: "int (*[2])(volatile node_t *restrict where, const char *what, ...)",
		29: "struct hidden *(void)",
		30: "enum {\n\tA = 200,\n};",
		99: "/* no type 99 */",
	} {
		if got := table.Text(id); got != want {
			t.Errorf("type %d is printed as\n%s\nexpected\n%s", id, got, want)
		}
	}
	p := printer{table: table}
	if got := p.declare(27, "f", "", 0); got != "int (*const f)(volatile node_t *restrict where, const char *what, ...)" {
		t.Errorf("a constant pointer to a function is declared as %s", got)
	}
}

// TestTextEnds holds that types without end in C have text that ends.
func TestTextEnds(t *testing.T) {
	types := []Type{}
	for i := range 30 { // each takes two of the next: 2^30 parameters
		types = append(types, Type{Kind: Ptr, Of: ID(2*i + 2)}, Type{Kind: FuncProto, Params: []Param{{"a", ID(2*i + 3)}, {"b", ID(2*i + 3)}}})
	}
	types = append(types, Type{Kind: Ptr, Of: 0})
	for range 200 {
		types = append(types, Type{Kind: Ptr, Of: ID(len(types))})
	}
	table, _ := mustRead(t, types)
	for id := range ID(table.Len()) {
		if got := table.Text(id); len(got) > 64*maxText {
			t.Fatalf("the text of type %d has %d bytes", id, len(got))
		}
	}
	if got := table.Text(ID(len(types))); !strings.Contains(got, tooDeep) {
		t.Errorf("200 pointers are printed as %q", got)
	}
}

// TestManyTypes: what is equal is found among as many types and strings as a kernel has.
func TestManyTypes(t *testing.T) {
	b := NewBuilder()
	b.Add(number)
	for range 2 {
		for i := range 20_000 {
			if id := b.Add(Type{Kind: Typedef, Name: fmt.Sprint("t", i), Of: 1}); id != ID(i+2) {
				t.Fatalf("type %d has the id %d", i, id)
			}
		}
	}
	data, err := b.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	table, err := Read(data)
	if err != nil || table.Len() != 20_002 {
		t.Fatal(err)
	}
	if ids := table.Named("t12345"); len(ids) != 1 || ids[0] != 12347 {
		t.Errorf("t12345 has the ids %v", ids)
	}
}
