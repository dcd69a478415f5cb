package btf

import (
	"bytes"
	"reflect"
	"sort"
	"strings"
	"testing"

	"github.com/cilium/ebpf/btf"
)

// cilium is zoo as the library that Go programs load eBPF with reads it.
func cilium(t *testing.T) *btf.Spec {
	t.Helper()
	data, err := build(zoo)
	if err != nil {
		t.Fatal(err)
	}
	spec, err := btf.LoadSpecFromReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// TestCiliumReads holds that the library reads what we write as we mean it.
func TestCiliumReads(t *testing.T) {
	spec := cilium(t)
	for i, want := range zoo {
		theirs, err := spec.TypeByID(btf.TypeID(i + 1))
		if err != nil {
			t.Errorf("type %d (%s %s): %v", i+1, want.Kind, want.Name, err)
			continue
		}
		if want.Kind == DeclTag { // they add it to what it is on
			continue
		}
		if got := fromCilium(t, spec, theirs); !reflect.DeepEqual(got, want) {
			t.Errorf("type %d is read as %+v, and was %+v", i+1, got, want)
		}
	}
	node, _ := spec.TypeByID(6)
	if s, ok := node.(*btf.Struct); !ok || !reflect.DeepEqual(s.Members[1].Tags, []string{"counted"}) {
		t.Errorf("the tag on the second member is not read: %v", node)
	}
}

// TestCiliumWrites holds that we read what the library writes: the same types, in another order.
func TestCiliumWrites(t *testing.T) {
	spec := cilium(t)
	var all []btf.Type
	for id := range zoo {
		if theirs, err := spec.TypeByID(btf.TypeID(id + 1)); err == nil && zoo[id].Kind != DeclTag {
			all = append(all, theirs)
		}
	}
	b, err := btf.NewBuilder(all)
	if err != nil {
		t.Fatal(err)
	}
	data, err := b.Marshal(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Read(data)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := mustRead(t, zoo)
	if g, w := texts(got), texts(want); !reflect.DeepEqual(g, w) {
		t.Errorf("read:\n%s\n\nexpected:\n%s", strings.Join(g, "\n"), strings.Join(w, "\n"))
	}
}

// texts returns the text of all types, sorted, without ids.
func texts(table *Table) []string {
	var all []string
	for id := 1; id < table.Len(); id++ {
		text := table.Text(ID(id))
		if table.types[id].Kind == DeclTag {
			text, _, _ = strings.Cut(text, " of type ")
		}
		all = append(all, text)
	}
	sort.Strings(all)
	return all
}

// fromCilium returns a type of the library as ours.
func fromCilium(t *testing.T, spec *btf.Spec, theirs btf.Type) Type {
	t.Helper()
	id := func(of btf.Type) ID {
		if _, void := of.(*btf.Void); void {
			return 0
		}
		n, err := spec.TypeID(of)
		if err != nil {
			t.Fatal(err)
		}
		return ID(n)
	}
	members := func(theirs []btf.Member) (all []Member) {
		for _, m := range theirs {
			all = append(all, Member{m.Name, id(m.Type), uint32(m.Offset), uint8(m.BitfieldSize)})
		}
		return all
	}
	switch x := theirs.(type) {
	case *btf.Int:
		return Type{Kind: Int, Name: x.Name, Size: x.Size, Encoding: uint8(x.Encoding), Bits: uint8(8 * x.Size)}
	case *btf.Pointer:
		return Type{Kind: Ptr, Of: id(x.Target)}
	case *btf.Array:
		return Type{Kind: Array, Of: id(x.Type), Index: id(x.Index), Count: x.Nelems}
	case *btf.Struct:
		return Type{Kind: Struct, Name: x.Name, Size: x.Size, Members: members(x.Members)}
	case *btf.Union:
		return Type{Kind: Union, Name: x.Name, Size: x.Size, Members: members(x.Members)}
	case *btf.Enum:
		return enumFromCilium(x)
	case *btf.Fwd:
		return Type{Kind: Fwd, Name: x.Name, Flag: x.Kind == btf.FwdUnion}
	case *btf.Typedef:
		return Type{Kind: Typedef, Name: x.Name, Of: id(x.Type)}
	case *btf.Volatile:
		return Type{Kind: Volatile, Of: id(x.Type)}
	case *btf.Const:
		return Type{Kind: Const, Of: id(x.Type)}
	case *btf.Restrict:
		return Type{Kind: Restrict, Of: id(x.Type)}
	case *btf.Func:
		return Type{Kind: Func, Name: x.Name, Of: id(x.Type), Linkage: Linkage(x.Linkage)}
	case *btf.FuncProto:
		return protoFromCilium(x, id)
	case *btf.Var:
		return Type{Kind: Var, Name: x.Name, Of: id(x.Type), Linkage: Linkage(x.Linkage)}
	case *btf.Datasec:
		v := x.Vars[0]
		return Type{Kind: Datasec, Name: x.Name, Size: x.Size, Variables: []Variable{{id(v.Type), v.Offset, v.Size}}}
	case *btf.Float:
		return Type{Kind: Float, Name: x.Name, Size: x.Size}
	case *btf.TypeTag:
		return Type{Kind: TypeTag, Name: x.Value, Of: id(x.Type)}
	}
	t.Fatalf("unknown: %v", theirs)
	return Type{}
}

func enumFromCilium(x *btf.Enum) Type {
	e := Type{Kind: Enum, Name: x.Name, Size: x.Size, Flag: x.Signed}
	if x.Size == 8 {
		e.Kind = Enum64
	}
	for _, v := range x.Values {
		e.Values = append(e.Values, Value{v.Name, v.Value})
	}
	return e
}

func protoFromCilium(x *btf.FuncProto, id func(btf.Type) ID) Type {
	f := Type{Kind: FuncProto, Of: id(x.Return)}
	for _, p := range x.Params {
		f.Params = append(f.Params, Param{p.Name, id(p.Type)})
	}
	return f
}
