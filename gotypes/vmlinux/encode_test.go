package vmlinux

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"sonde/bpf/btf"
	"sonde/gotypes"
	"sonde/kallsyms"
)

// table has types that contain themselves, one of 64 GiB, and functions with none, one and two results.
func table(t *testing.T) *gotypes.Table {
	t.Helper()
	types := []gotypes.Desc{
		{},
		{Name: "x/p.Tree", Kind: reflect.Array, Size: 48, Elem: 2, Len: 2},
		{Kind: reflect.Slice, Size: 24, Elem: 1},
		{Kind: reflect.Pointer, Elem: 4},
		{Kind: reflect.Array, Size: 64 << 30, Elem: 5, Len: 8 << 30},
		{Name: "int", Kind: reflect.Int, Size: 8},
		{Name: "x/p." + strings.Repeat("Long", 200), Kind: reflect.Uint8, Size: 1},
		{Name: "complex64", Kind: reflect.Complex64, Size: 8},
		{Name: "x/p.Reader", Kind: reflect.Interface, Size: 16},
	}
	funcs := []gotypes.Func{
		{Addr: 0x1000, Params: []gotypes.Param{{Name: "t", Type: 1}, {Name: "_", Type: 3}}},
		{Addr: 0x1010, Params: []gotypes.Param{{Name: "größe", Type: 6}}, Results: []gotypes.Param{{Name: "~r0", Type: 7}}},
		{Addr: 0x1020, Results: []gotypes.Param{{Name: "n", Type: 6}, {Name: "~r1", Type: 8}}},
	}
	entries := []gotypes.Entry{{Addr: 0x1000, Name: "x/p.(*T[go.shape.int]).Walk"}, {Addr: 0x1010, Name: "x/p.One"}, {Addr: 0x1020, Name: "x/p.Two"}}
	blob, err := gotypes.Encode(&gotypes.Info{Types: types, Funcs: funcs}, entries, gotypes.Memory{})
	if err != nil {
		t.Fatal(err)
	}
	table, err := gotypes.Load(blob, entries, gotypes.Memory{})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// TestLinuxsStructures: a type that is Linux's of another name has that name, and its fields theirs.
func TestLinuxsStructures(t *testing.T) {
	types := []gotypes.Desc{
		{},
		{Name: "sonde/probe/task.Task", Kind: reflect.Struct, Size: 48, Fields: []gotypes.Field{
			{Name: "PID", Type: 2}, {Name: "TGID", Type: 2, Offset: 4}, {Name: "Parent", Type: 3, Offset: 8}, {Name: "GroupLeader", Type: 3, Offset: 16},
			{Name: "Entity", Type: 3, Offset: 24}, {Name: "Comm", Type: 4, Offset: 32}}},
		{Name: "int32", Kind: reflect.Int32, Size: 4},
		{Kind: reflect.Pointer, Elem: 1},
		{Kind: reflect.Array, Size: 16, Elem: 5, Len: 16},
		{Name: "sonde/probe/task.Char", Kind: reflect.Int8, Size: 1},
	}
	entries := []gotypes.Entry{{Addr: 0x1000, Name: "x/p.F"}}
	funcs := []gotypes.Func{{Addr: 0x1000, Params: []gotypes.Param{{Name: "t", Type: 3}}}}
	blob, err := gotypes.Encode(&gotypes.Info{Types: types, Funcs: funcs}, entries, gotypes.Memory{})
	if err != nil {
		t.Fatal(err)
	}
	table, err := gotypes.Load(blob, entries, gotypes.Memory{})
	if err != nil {
		t.Fatal(err)
	}
	data, _, err := Encode(table, nil)
	if err != nil {
		t.Fatal(err)
	}
	is, err := btf.Read(data)
	if err != nil {
		t.Fatal(err)
	}
	id, err := is.Find(btf.Struct, "task_struct")
	if err != nil {
		t.Fatal(err)
	}
	members := is.Type(id).Members
	if members[2].Name != "real_parent" || is.Type(is.Type(members[2].Type).Of).Name != "task_struct" {
		t.Errorf("%+v", members)
	}
	comm := is.Type(members[5].Type)
	if char := is.Type(comm.Of); members[5].Name != "comm" || comm.Kind != btf.Array || char.Kind != btf.Int || char.Name != "char" {
		t.Errorf("%+v of %+v", comm, char)
	}
}

// TestTypedefs: what the formats of system calls' tracepoints name is there, as wide as in Linux.
func TestTypedefs(t *testing.T) {
	data, _, err := Encode(table(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	is, err := btf.Read(data)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"umode_t": "unsigned short 2", "pid_t": "int 4", "size_t": "unsigned long 8", "u64": "unsigned long long 8", "s64": "long long 8", "gid_t": "unsigned int 4",
		"loff_t": "long long 8", "sigset_t": "__sigset 0", "cap_user_header_t": " 0"} {
		id, err := is.Find(btf.Typedef, name)
		if err != nil {
			t.Error(err)
			continue
		}
		if of := is.Type(is.Type(id).Of); fmt.Sprint(of.Name, " ", of.Size) != want {
			t.Errorf("%s is %s of %d bytes, want %s", name, of.Name, of.Size, want)
		}
	}
}

func TestEncode(t *testing.T) {
	data, _, err := Encode(table(t), []kallsyms.Alias{
		{Name: "p_T_go_shape_int_Walk", Symbol: kallsyms.Symbol{Addr: 0x1000}}, {Name: "p_One", Symbol: kallsyms.Symbol{Addr: 0x1010}},
		{Name: "p_assembly", Symbol: kallsyms.Symbol{Addr: 0x1018}}, {Name: "p_Two", Symbol: kallsyms.Symbol{Addr: 0x1020}},
		{Name: "vfs_read", Symbol: kallsyms.Symbol{Addr: 0x1010}, Linux: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	is, err := btf.Read(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		kind btf.Kind
		name string
	}{{btf.Typedef, "p_Tree"}, {btf.Struct, "slice_p_Tree"}, {btf.Struct, "complex64"}, {btf.Struct, "p_Reader"}, {btf.Int, "long"}, {btf.Func, "p_One"}} {
		if _, err := is.Find(want.kind, want.name); err != nil {
			t.Error(err)
		}
	}
	proto := func(name string) *btf.Type {
		id, err := is.Find(btf.Func, name)
		if err != nil {
			t.Fatal(err)
		}
		return is.Type(is.Type(id).Of)
	}
	if p := proto("p_T_go_shape_int_Walk"); len(p.Params) != 3 || p.Params[0].Name != "t" || p.Params[1].Name != "dictionary" || p.Params[2].Name != "arg2" || p.Of != 0 {
		t.Errorf("%+v", p)
	}
	if p := proto("p_One"); p.Params[0].Name != "gr_e" || is.Type(p.Of).Name != "complex64" {
		t.Errorf("%+v", p)
	}
	if _, err := is.Find(btf.Func, "p_assembly"); err == nil {
		t.Error("a function of which nothing is known has a prototype")
	}
	if s := is.Type(proto("p_Two").Of); s.Kind != btf.Struct || s.Size != 24 || s.Members[0].Name != "n" || s.Members[1].Name != "r1" || s.Members[1].Offset != 64 {
		t.Errorf("%+v", s)
	}
}
