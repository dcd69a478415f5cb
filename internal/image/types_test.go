package image

import (
	"os"
	"reflect"
	"slices"
	"testing"

	"sonde/gotypes"
	"sonde/gotypes/vmlinux"
	"sonde/kallsyms"
)

// TestTypesOfTheKernel packs the types of the linked test image, and compares what comes out of the
// table with what went in: each function's arguments and results by name and type, with each type's
// kind, size and fields, which the table computes and DWARF says.
func TestTypesOfTheKernel(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the test image")
	}
	f := linked(t, BuildOptions{Test: true})
	table, size := f.table(t)
	d, err := f.view.DWARF()
	if err != nil {
		t.Fatal(err)
	}
	want, _, err := readTypes(d)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d functions, %d types: %d bytes", len(want.Funcs), table.Len(), size)
	c := comparison{t: t, table: table, want: want, same: map[gotypes.ID]gotypes.ID{}}
	for _, fn := range want.Funcs {
		call, ok := table.Func(fn.Addr)
		if !ok || len(call.Args) != len(fn.Params) || len(call.Results) != len(fn.Results) {
			t.Fatalf("%#x has %v; want %v, %v", fn.Addr, call, fn.Params, fn.Results)
		}
		args := slices.Concat(call.Args, call.Results)
		for i, p := range slices.Concat(fn.Params, fn.Results) {
			if args[i].Name != p.Name {
				t.Fatalf("%s: argument %d is called %s, want %s", call.Name, i, args[i].Name, p.Name)
			}
			c.compare(args[i].Type, p.Type)
		}
	}
	if len(c.same) < 3000 || len(want.Funcs) < 10_000 {
		t.Error("too few types or functions")
	}
}

// TestTypesFit holds that what the kernel carries of types is small: 4.6 bytes for each of 20,000
// functions.
func TestTypesFit(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the image")
	}
	_, size := linked(t, BuildOptions{}).table(t)
	t.Logf("%d bytes", size)
	if most := 94_000; size > most {
		t.Errorf("the table of types has %d bytes, more than %d", size, most)
	}
}

// BenchmarkTypes unpacks the types of the kernel, BenchmarkBTF writes them as BTF: the first program that asks waits
// for both.
func BenchmarkTypes(b *testing.B) {
	blob, syms, m := linked(b, BuildOptions{}).packed(b)
	for b.Loop() {
		if _, err := gotypes.Load(blob, gotypes.Entries(syms), m); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBTF(b *testing.B) {
	f := linked(b, BuildOptions{})
	table, _ := f.table(b)
	_, syms, _ := f.packed(b)
	for b.Loop() {
		if _, _, err := vmlinux.Encode(table, syms.Aliases()); err != nil {
			b.Fatal(err)
		}
	}
}

// linked returns a kernel as the linker makes it.
func linked(t testing.TB, opts BuildOptions) *elfFile {
	t.Helper()
	path, err := Build(opts)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path + ".raw")
	if err != nil {
		t.Fatal(err)
	}
	f, err := open(raw)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// table returns what the kernel in f carries of types, unpacked, and how many bytes it takes.
func (f *elfFile) table(t testing.TB) (*gotypes.Table, int) {
	t.Helper()
	blob, syms, m := f.packed(t)
	table, err := gotypes.Load(blob, gotypes.Entries(syms), m)
	if err != nil {
		t.Fatal(err)
	}
	return table, len(blob)
}

// packed returns what the kernel in f carries of types, and what is needed to unpack it.
func (f *elfFile) packed(t testing.TB) (blob []byte, syms *kallsyms.Table, m gotypes.Memory) {
	t.Helper()
	symbols := kallsyms.Encode(f.kernelSymbols())
	blob, err := f.types(symbols)
	if err != nil {
		t.Fatal(err)
	}
	if syms, err = kallsyms.Load(symbols); err != nil {
		t.Fatal(err)
	}
	if m, err = f.typeMemory(); err != nil {
		t.Fatal(err)
	}
	return blob, syms, m
}

// comparison compares types of a table with those of DWARF, each pair once.
type comparison struct {
	t     *testing.T
	table *gotypes.Table
	want  *gotypes.Info
	same  map[gotypes.ID]gotypes.ID // a type of DWARF, and that of the table
}

func (c *comparison) compare(got, want gotypes.ID) {
	if other, met := c.same[want]; met {
		if other != got {
			c.t.Fatalf("%s is two types, %d %+v and %d %+v", c.want.Types[want].Name, other, *c.table.Type(other), got, *c.table.Type(got))
		}
		return
	}
	c.same[want] = got
	x, y := *c.table.Type(got), c.want.Types[want]
	sized := y.Size > 0 || y.Kind == reflect.Struct // DWARF leaves others out
	if x.Kind != y.Kind || sized && x.Size != y.Size || x.Len != y.Len || len(x.Fields) != len(y.Fields) || y.Name != "" && x.Name != y.Name {
		c.t.Fatalf("%+v, want %+v", x, y)
	}
	for i, f := range y.Fields {
		if g := x.Fields[i]; g.Name != f.Name || g.Offset != f.Offset {
			c.t.Fatalf("%s: field %+v, want %+v", y.Name, g, f)
		}
		c.compare(x.Fields[i].Type, f.Type)
	}
	if x.Kind == reflect.Pointer || x.Kind == reflect.Slice || x.Kind == reflect.Array || x.Kind == reflect.Map || x.Kind == reflect.Chan {
		c.compare(x.Elem, y.Elem)
	}
	if x.Kind == reflect.Map {
		c.compare(x.Key, y.Key)
	}
}
