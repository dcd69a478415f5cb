package image

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/cilium/ebpf/btf"

	"sonde/gotypes"
	"sonde/gotypes/vmlinux"
)

// TestBTF reads the kernel's BTF with the library that Go programs load eBPF with. It compares the
// parameters of each function with the table: names and sizes; of structures, the members and where they
// are.
func TestBTF(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the test image")
	}
	f := linked(t, BuildOptions{Test: true})
	table, _ := f.table(t)
	_, syms, _ := f.packed(t)
	data, _, err := vmlinux.Encode(table, syms.Aliases())
	if err != nil {
		t.Fatal(err)
	}
	spec, err := btf.LoadSpecFromReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	c := btfComparison{t: t, table: table, done: map[gotypes.ID]bool{}}
	n := 0
	for _, a := range syms.Aliases() {
		call, ok := table.Func(a.Symbol.Addr)
		if !ok || a.Linux || len(a.Name) > 500 { // it is cut
			continue
		}
		var fn *btf.Func
		if err := spec.TypeByName(a.Name, &fn); err != nil {
			t.Fatalf("%s: %v", call.Name, err)
		}
		c.function(call, fn.Type.(*btf.FuncProto))
		n++
	}
	t.Logf("%d bytes, %d functions, %d types", len(data), n, len(c.done))
	if n < 10_000 || len(c.done) < 3000 {
		t.Error("too few functions or types")
	}
}

type btfComparison struct {
	t     *testing.T
	table *gotypes.Table
	done  map[gotypes.ID]bool
}

const letters = "_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

func (c *btfComparison) function(call gotypes.Call, p *btf.FuncProto) {
	params := p.Params
	if at := gotypes.Dictionary(call.Name); call.Hidden != nil {
		if params[at].Name != "dictionary" {
			c.t.Fatalf("%s: parameter %d is %v", call.Name, at, params[at])
		}
		params = append(params[:at:at], params[at+1:]...)
	}
	if len(params) != len(call.Args) {
		c.t.Fatalf("%s: %v, want %v", call.Name, params, call.Args)
	}
	for i, a := range call.Args {
		if inC := strings.Trim(a.Name, letters) == ""; inC && a.Name != "_" && a.Name != "" && params[i].Name != a.Name {
			c.t.Errorf("%s: parameter %d is %s, want %s", call.Name, i, params[i].Name, a.Name)
		}
		c.same(a.Type, params[i].Type)
	}
	switch _, void := p.Return.(*btf.Void); {
	case void != (len(call.Results) == 0):
		c.t.Errorf("%s returns %v", call.Name, p.Return)
	case len(call.Results) == 1:
		c.same(call.Results[0].Type, p.Return)
	case len(call.Results) > 1:
		for i, m := range p.Return.(*btf.Struct).Members {
			c.same(call.Results[i].Type, m.Type)
		}
	}
}

// same compares a type, and what it has in it, once.
func (c *btfComparison) same(id gotypes.ID, is btf.Type) {
	if c.done[id] || id == 0 {
		return
	}
	c.done[id] = true
	x := c.table.Type(id)
	if size, err := btf.Sizeof(is); err != nil || size != x.Size && x.Size < 1<<32 {
		c.t.Fatalf("%s: %d bytes, %v; want %d", x.Name, size, err, x.Size)
	}
	switch is := btf.UnderlyingType(is).(type) {
	case *btf.Struct:
		if x.Kind != reflect.Struct {
			return
		}
		for i, f := range x.Fields {
			if m := is.Members[i]; m.Offset.Bytes() != uint32(f.Offset) {
				c.t.Fatalf("%s: %v, want %v", x.Name, m, f)
			}
			c.same(f.Type, is.Members[i].Type)
		}
	case *btf.Pointer:
		if x.Kind == reflect.Pointer {
			c.same(x.Elem, is.Target)
		}
	case *btf.Array:
		c.same(x.Elem, is.Type)
	}
}
