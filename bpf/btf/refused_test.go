package btf

import (
	"encoding/binary"
	"errors"
	"strings"
	"syscall"
	"testing"
)

var (
	number = Type{Kind: Int, Name: "int", Size: 4, Encoding: Signed, Bits: 32}
	proto  = Type{Kind: FuncProto, Of: 1, Params: []Param{{"a", 1}}}
)

// refused is types that are not valid, and what is said of them. Type 1 is an int.
var refused = []struct {
	name  string
	types []Type // from id 2 on
	errno syscall.Errno
	want  string
}{
	{"id out of range", []Type{{Kind: Ptr, Of: 9}}, syscall.EINVAL, "type 2 (PTR): it refers to type 9: the last type is 2"},
	{"highest id", []Type{{Kind: Ptr, Of: ^ID(0)}}, syscall.EINVAL, "type 2 (PTR): it refers to type 4294967295: the last type is 2"},
	{"pointer to a variable", []Type{{Kind: Var, Name: "v", Of: 1}, {Kind: Ptr, Of: 2}}, syscall.EINVAL, "type 3 (PTR): it refers to type 2 (VAR v): expected a type that values have"},
	{"named pointer", []Type{{Kind: Ptr, Name: "p", Of: 1}}, syscall.EINVAL, `type 2 (PTR p): the name at offset 5 is "p": expected none, since the kind has no name`},
	{"typedef without name", []Type{{Kind: Typedef, Of: 1}}, syscall.EINVAL, `type 2 (TYPEDEF): the name at offset 0 is "": expected a name`},
	{"name of Go", []Type{{Kind: Typedef, Name: "vfs.(*File)", Of: 1}}, syscall.EINVAL, `type 2 (TYPEDEF vfs.(*File)): the name at offset 5 is "vfs.(*File)": expected letters, digits, _ and ., and no digit first`},
	{"long name", []Type{{Kind: Typedef, Name: strings.Repeat("a", maxName+1), Of: 1}}, syscall.EINVAL, "the name at offset 5 has more than 511 bytes"},
	{"section's name", []Type{{Kind: Datasec, Name: ".b\n", Size: 4}}, syscall.EINVAL, "expected only what can be printed"},
	{"flag of a pointer", []Type{{Kind: Ptr, Of: 1, Flag: true}}, syscall.EINVAL, "type 2 (PTR): the flag is set: expected 0, since the kind has no use for it"},
	{"entries of a pointer", []Type{{Kind: Ptr, Params: []Param{{"a", 1}}}}, syscall.EINVAL, "type 2 (PTR): it has 1 entries: expected 0"},
	{"encoding", []Type{{Kind: Int, Size: 4, Bits: 32, Encoding: 3}}, syscall.EINVAL, "type 2 (INT): its encoding is 3: expected 0, 1 (signed), 2 (character) or 4 (truth value)"},
	{"bits of an integer", []Type{{Kind: Int, Size: 4, Bits: 33}}, syscall.EINVAL, "type 2 (INT): it has 33 bits from bit 0 on, but 4 bytes"},
	{"many bits of an integer", []Type{{Kind: Int, Size: 32, Bits: 129}}, syscall.EINVAL, "type 2 (INT): it has 129 bits from bit 0 on: at most 128 are possible"},
	{"size of a float", []Type{{Kind: Float, Name: "f", Size: 3}}, syscall.EINVAL, "type 2 (FLOAT f): it takes 3 bytes: expected 2, 4, 8, 12 or 16"},
	{"size of an enumeration", []Type{{Kind: Enum, Name: "e", Size: 3}}, syscall.EINVAL, "type 2 (ENUM e): it takes 3 bytes: expected 1, 2, 4 or 8"},
	{"constant without name", []Type{{Kind: Enum, Size: 4, Values: []Value{{"", 1}}}}, syscall.EINVAL, `type 2 (ENUM): the name at offset 0 is "": expected a name`},
	{"void elements", []Type{{Kind: Array, Index: 1, Count: 1}}, syscall.EINVAL, "type 2 (ARRAY): its elements are of void, which has no size"},
	{"index", []Type{{Kind: Ptr}, {Kind: Array, Of: 1, Index: 2, Count: 1}}, syscall.EINVAL, "type 3 (ARRAY): its index is of type 2 (PTR): expected an integer that fills its bytes"},
	{"elements that are bits", []Type{{Kind: Int, Size: 4, Bits: 3}, {Kind: Array, Of: 2, Index: 1, Count: 1}}, syscall.EINVAL, "type 3 (ARRAY): its elements are of type 2 (INT): expected an integer that fills its bytes"},
	{"size of an array", []Type{{Kind: Array, Of: 1, Index: 1, Count: 1 << 30}}, syscall.EINVAL, "type 2 (ARRAY): its 1073741824 elements of 4 bytes take more than 4 GiB"},
	{"member outside", []Type{{Kind: Struct, Name: "s", Size: 4, Members: []Member{{Name: "m", Type: 1, Offset: 8}}}}, syscall.EINVAL, "type 2 (STRUCT s): member 0 (m) ends at bit 40: the whole has 4 bytes"},
	{"members out of order", []Type{{Kind: Struct, Size: 8, Members: []Member{{Name: "a", Type: 1, Offset: 32}, {Name: "b", Type: 1}}}}, syscall.EINVAL, "type 2 (STRUCT): member 1 (b) is at bit 0, but the one before it is at 32"},
	{"member of a union", []Type{{Kind: Union, Size: 8, Members: []Member{{Name: "a", Type: 1, Offset: 32}}}}, syscall.EINVAL, "type 2 (UNION): member 0 (a) is at bit 32: expected 0 in a union"},
	{"member between bytes", []Type{{Kind: Struct, Size: 8, Members: []Member{{Name: "a", Type: 1, Offset: 4}}}}, syscall.EINVAL, "type 2 (STRUCT): member 0 (a) begins at bit 4: expected a multiple of 8, since it is not a bit-field"},
	{"member without size", []Type{{Kind: Fwd, Name: "f"}, {Kind: Struct, Size: 8, Members: []Member{{Name: "a", Type: 2}}}}, syscall.EINVAL, "type 3 (STRUCT): member 0 (a) is of type 2 (FWD f), which has no size"},
	{"bit-field of a pointer", []Type{{Kind: Ptr}, {Kind: Struct, Size: 8, Members: []Member{{Name: "a", Type: 2, Bits: 3}}}}, syscall.EINVAL, "type 3 (STRUCT): member 0 (a) is a bit-field of type 2 (PTR): expected an integer or enumeration"},
	{"wide bit-field", []Type{{Kind: Struct, Size: 8, Members: []Member{{Name: "a", Type: 1, Bits: 33}}}}, syscall.EINVAL, "type 2 (STRUCT): member 0 (a) has 33 bits of type 1 (INT int), which does not have as many"},
	{"function of an int", []Type{{Kind: Func, Name: "f", Of: 1}}, syscall.EINVAL, "type 2 (FUNC f): it is a function of type 1 (INT int): expected a FUNC_PROTO"},
	{"linkage of a function", []Type{proto, {Kind: Func, Name: "f", Of: 2, Linkage: 3}}, syscall.EINVAL, "type 3 (FUNC f): its linkage is 3: expected 0 (static), 1 (global) or 2 (extern)"},
	{"parameter without name", []Type{{Kind: FuncProto, Params: []Param{{"", 1}}}, {Kind: Func, Name: "f", Of: 2}}, syscall.EINVAL, "type 3 (FUNC f): parameter 0 of type 2 has no name: expected one, since the function is defined"},
	{"void parameter", []Type{{Kind: FuncProto, Params: []Param{{}, {"a", 1}}}}, syscall.EINVAL, "type 2 (FUNC_PROTO): parameter 0 () is void: expected a type; only the last one may be void, and then has no name"},
	{"parameter without size", []Type{{Kind: Fwd, Name: "x"}, {Kind: FuncProto, Params: []Param{{"a", 2}}}}, syscall.EINVAL, "type 3 (FUNC_PROTO): parameter 0 (a) is of type 2 (FWD x), which has no size"},
	{"result without size", []Type{{Kind: Const}, {Kind: FuncProto, Of: 2}}, syscall.EINVAL, "type 3 (FUNC_PROTO): it returns type 2 (CONST), which has no size"},
	{"void variable", []Type{{Kind: Var, Name: "v"}}, syscall.EINVAL, "type 2 (VAR v): it is void: expected a type that has values"},
	{"linkage of a variable", []Type{{Kind: Var, Name: "v", Of: 1, Linkage: Extern}}, syscall.EINVAL, "type 2 (VAR v): its linkage is 2: expected 0 (static) or 1 (global)"},
	{"variable without size", []Type{{Kind: Const}, {Kind: Var, Name: "v", Of: 2}}, syscall.EINVAL, "type 3 (VAR v): it is of type 2 (CONST), which has no size"},
	{"section without size", []Type{{Kind: Datasec, Name: ".bss"}}, syscall.EINVAL, "type 2 (DATASEC .bss): it takes 0 bytes: expected its size"},
	{"section of types", []Type{{Kind: Datasec, Name: ".bss", Size: 4, Variables: []Variable{{1, 0, 4}}}}, syscall.EINVAL, "type 2 (DATASEC .bss): variable 0 is type 1 (INT int): expected a VAR"},
	{"variable outside", []Type{{Kind: Var, Name: "v", Of: 1}, {Kind: Datasec, Name: ".bss", Size: 4, Variables: []Variable{{2, 1, 4}}}}, syscall.EINVAL, "type 3 (DATASEC .bss): variable 0 has 4 bytes at offset 1: expected some that end within the section, which has 4"},
	{"variables overlap", []Type{{Kind: Var, Name: "v", Of: 1}, {Kind: Datasec, Name: ".bss", Size: 8, Variables: []Variable{{2, 0, 4}, {2, 3, 4}}}}, syscall.EINVAL, "type 3 (DATASEC .bss): variable 1 is at offset 3, but the one before it ends at 4"},
	{"variable cut off", []Type{{Kind: Var, Name: "v", Of: 1}, {Kind: Datasec, Name: ".bss", Size: 8, Variables: []Variable{{2, 0, 3}}}}, syscall.EINVAL, "type 3 (DATASEC .bss): variable 0 has 3 bytes: type 2 (VAR v) takes 4"},
	{"tag on an int", []Type{{Kind: DeclTag, Name: "t", Of: 1, Component: -1}}, syscall.EINVAL, "type 2 (DECL_TAG t): it is on type 1 (INT int): expected a structure, union, function, variable or typedef"},
	{"tag on no member", []Type{{Kind: Struct, Name: "s"}, {Kind: DeclTag, Name: "t", Of: 2}}, syscall.EINVAL, "type 3 (DECL_TAG t): it is on component 0 of type 2 (STRUCT s): expected -1, or one of its 0"},
	{"tag on a parameter", []Type{proto, {Kind: Func, Name: "f", Of: 2}, {Kind: DeclTag, Name: "t", Of: 3, Component: 1}}, syscall.EINVAL, "type 4 (DECL_TAG t): it is on component 1 of type 3 (FUNC f): expected -1, or one of its 1"},
	{"empty tag", []Type{{Kind: TypeTag, Of: 1}}, syscall.EINVAL, `type 2 (TYPE_TAG): the name at offset 0 is "": expected a name`},
	{"typedef of itself", []Type{{Kind: Typedef, Name: "t", Of: 2}}, syscall.EEXIST, "type 2 (TYPEDEF t): it leads back to itself: expected a structure, an array or a function in between"},
	{"pointers in a circle", []Type{{Kind: Ptr, Of: 3}, {Kind: Const, Of: 2}}, syscall.EEXIST, "type 2 (PTR): it leads back to itself: expected a structure, an array or a function in between"},
	{"structure in itself", []Type{{Kind: Struct, Name: "s", Size: 4, Members: []Member{{Name: "m", Type: 3}}}, {Kind: Typedef, Name: "t", Of: 2}}, syscall.EEXIST, "type 2 (STRUCT s): it contains itself"},
	{"array of itself", []Type{{Kind: Array, Of: 2, Index: 1, Count: 1}}, syscall.EEXIST, "type 2 (ARRAY): it contains itself"},
	{"not defined", []Type{{}}, syscall.EINVAL, `a type "" of void cannot be written: expected a kind from 1 to 19`},
	{"large constant", []Type{{Kind: Enum, Name: "e", Size: 8, Values: []Value{{"V", 1 << 32}}}}, syscall.EINVAL, "ENUM e: V = 4294967296 does not fit into 32 bits: an ENUM64 is needed"},
	{"zero byte", []Type{{Kind: Typedef, Name: "a\x00b", Of: 1}}, syscall.EINVAL, `the name "a\x00b" has a zero byte, which ends a string`},
}

func TestRefused(t *testing.T) {
	for _, c := range refused {
		_, err := build(append([]Type{number}, c.types...))
		if err == nil {
			t.Errorf("%s: accepted", c.name)
		} else if !strings.HasPrefix(err.Error(), "BTF: ") || !strings.HasSuffix(err.Error(), c.want) || !errors.Is(err, c.errno) {
			t.Errorf("%s:\ngot  %v\nwant %s (%v)", c.name, err, c.want, c.errno)
		}
	}
}

// TestNamesAccepted holds which names are valid.
func TestNamesAccepted(t *testing.T) {
	_, err := build([]Type{number, {Kind: Typedef, Name: "_a.B_9", Of: 1}, {Kind: Typedef, Name: "vfs.File", Of: 1}, {Kind: Typedef, Name: ".z", Of: 1},
		{Kind: Datasec, Name: ".data$0 @", Size: 4}, {Kind: TypeTag, Name: "any \x01 text", Of: 1}, {Kind: Typedef, Name: strings.Repeat("a", maxName), Of: 1}})
	if err != nil {
		t.Error(err)
	}
	if _, err := build([]Type{number, {Kind: Typedef, Name: "9a", Of: 1}}); err == nil {
		t.Error("a name with a digit first is accepted")
	}
}

// TestDepth holds the limit on types in types, which is that of Linux: what comes before need not
// be walked again.
func TestDepth(t *testing.T) {
	chain := func(n int, forward bool) []Type {
		types := []Type{number}
		for i := range n {
			of := ID(i + 1)
			if forward {
				if of += 2; i == n-1 {
					of = 1
				}
			}
			types = append(types, Type{Kind: Const, Of: of})
		}
		return types
	}
	if _, err := build(chain(1000, false)); err != nil {
		t.Errorf("1000 qualifiers, each behind the one that it qualifies: %v", err)
	}
	if _, err := build(chain(maxDepth, true)); err != nil {
		t.Errorf("%d qualifiers, each before the one that it qualifies: %v", maxDepth, err)
	}
	if _, err := build(chain(maxDepth+1, true)); !errors.Is(err, syscall.E2BIG) {
		t.Errorf("%d qualifiers, each before the one that it qualifies: %v", maxDepth+1, err)
	}
}

func TestHeaderRefused(t *testing.T) {
	good, err := build([]Type{number})
	if err != nil {
		t.Fatal(err)
	}
	word := func(at int, w uint32) func([]byte) []byte {
		return func(b []byte) []byte { binary.LittleEndian.PutUint32(b[at:], w); return b }
	}
	for _, c := range []struct {
		name, want string
		errno      syscall.Errno
		change     func([]byte) []byte
	}{
		{"empty", "0 bytes: the header alone takes 24", syscall.EINVAL, func(b []byte) []byte { return nil }},
		{"big-endian", "it is big-endian; only little-endian can be read", syscall.EINVAL, func(b []byte) []byte { b[0], b[1] = b[1], b[0]; return b }},
		{"magic", "it begins with 0x464c: expected 0xeb9f", syscall.EINVAL, func(b []byte) []byte { return append([]byte("LF"), b[2:]...) }},
		{"version", "version 2, flags 0x0: expected version 1 and no flags", notSupported, func(b []byte) []byte { b[2] = 2; return b }},
		{"flags", "version 1, flags 0x1: expected version 1 and no flags", notSupported, func(b []byte) []byte { b[3] = 1; return b }},
		{"short header", "the header says that it has 20 bytes: expected 24 to 45", syscall.EINVAL, word(4, 20)},
		{"long header", "the header says that it has 46 bytes: expected 24 to 45", syscall.EINVAL, word(4, 46)},
		{"unknown fields", "the header has fields that are not known", syscall.E2BIG, word(4, 28)},
		{"unaligned types", "the types begin at offset 2, which is not a multiple of 4", syscall.EINVAL, word(8, 2)},
		{"gap", "types at 4 to 20, strings at 16: expected the types behind the header, and the strings behind them", syscall.EINVAL, word(8, 4)},
		{"overlap", "types at 0 to 20, strings at 16: expected the types behind the header, and the strings behind them", syscall.EINVAL, word(12, 20)},
		{"strings beyond the end", "the strings end at 22, but 21 bytes follow the header", syscall.EINVAL, word(20, 6)},
		{"bytes at the end", "the strings end at 21, but 22 bytes follow the header", syscall.EINVAL, func(b []byte) []byte { return append(b, 0) }},
		{"first string", "the strings begin with byte 0x41 and end with 0x00: expected 0 in both places", syscall.EINVAL, func(b []byte) []byte { b[40] = 'A'; return b }},
		{"last string", "the strings begin with byte 0x00 and end with 0x41: expected 0 in both places", syscall.EINVAL, func(b []byte) []byte { b[44] = 'A'; return b }},
		{"half a type", "type 2: it has 1 bytes: expected at least 12", syscall.EINVAL, func(b []byte) []byte {
			b[12], b[16], b[20] = 17, 17, 5
			return append(b[:40], 0, 0, 'i', 'n', 't', 0)
		}},
		{"no types", "there are no types", syscall.EINVAL, func(b []byte) []byte { b[12], b[16] = 0, 0; return append(b[:24], b[40:]...) }},
		{"kind", "the word behind the name is 0x14000000: expected a kind from 1 to 19, and 0 in the bits of 0x60ff0000", syscall.EINVAL, word(28, 20<<24)},
		{"missing entries", "type 1 (STRUCT int): 20 bytes of it are missing: it has 2 entries", syscall.EINVAL, word(28, 4<<24|2)},
		{"unused bits", "the word of the integer is 0x1000120: expected 0 in the bits of 0xf000ff00", syscall.EINVAL, word(36, 0x1000120)},
		{"name beyond the strings", "a name is at offset 5, but the strings have 5 bytes", syscall.EINVAL, word(24, 5)},
		{"third word", "type 1 (FWD int): the third word is 4: expected 0", syscall.EINVAL, word(28, 7<<24)},
		{"too large", "16777261 bytes, more than 16777216", syscall.E2BIG, func(b []byte) []byte { return append(b, make([]byte, maxSection)...) }},
	} {
		_, err := Read(c.change(append([]byte(nil), good...)))
		if err == nil {
			t.Errorf("%s: accepted", c.name)
		} else if !strings.HasSuffix(err.Error(), c.want) || !errors.Is(err, c.errno) {
			t.Errorf("%s:\ngot  %v\nwant %s (%v)", c.name, err, c.want, c.errno)
		}
	}
}

// TestObject holds what only the section of an object file may have.
func TestObject(t *testing.T) {
	b := NewBuilder()
	types := []Type{number,
		{Kind: FuncProto, Params: []Param{{"", 1}}}, {Kind: Func, Name: "f", Of: 2, Linkage: Extern},
		{Kind: Var, Name: "v", Of: 0, Linkage: Extern}, {Kind: Datasec, Name: ".ksyms", Variables: []Variable{{4, 0, 0}, {3, 0, 0}}},
		{Kind: Var, Name: "w", Of: 1}, {Kind: Datasec, Name: ".bss", Variables: []Variable{{6, 0, 4}, {6, 0, 4}}}}
	for _, x := range types {
		b.Add(x)
	}
	data := wrap(b.forms, b.strings)
	if _, err := ReadObject(data); err != nil {
		t.Errorf("ReadObject: %v", err)
	}
	if _, err := Read(data); err == nil {
		t.Error("Read accepts the section of an object")
	}
}
