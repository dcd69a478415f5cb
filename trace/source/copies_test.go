package source

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"sonde/gotypes"
	"sonde/probe/attach"
	"sonde/probe/attach/places"
	"sonde/trace/lang"
)

// TestCopies: each argument of an inlined function is known at the places where the table has it, and in the
// function itself where calls have it.
func TestCopies(t *testing.T) {
	s := newSource(t)
	const own = 0x5000
	types := []gotypes.Desc{{}, {Name: "int32", Kind: reflect.Int32, Size: 4}, {Name: "string", Kind: reflect.String, Size: 16}}
	spots := [][]gotypes.Spot{
		{{Regs: []uint8{12}}, {Regs: []uint8{7, 2}}},
		nil,
		{{OnStack: true, Stack: 24}, {OnStack: true, Stack: 32}}, // a program cannot read a string from the stack
		{{}, {Regs: []uint8{0, 15}}},
	}
	info := &gotypes.Info{Types: types, Funcs: []gotypes.Func{{Addr: own, Params: []gotypes.Param{{Name: "n", Type: 1}, {Name: "s", Type: 2}}, Copies: spots}}}
	entries := []gotypes.Entry{{Addr: own, Name: "vfs.join"}}
	blob, err := gotypes.Encode(info, entries, gotypes.Memory{})
	if err != nil {
		t.Fatal(err)
	}
	table, err := gotypes.Load(blob, entries, gotypes.Memory{})
	if err != nil {
		t.Fatal(err)
	}
	s.Types = func(addr uint64) (*gotypes.Table, gotypes.Call, error) {
		call, _ := table.Func(addr)
		return table, call, nil
	}
	at := func(addr uint64, part int, lowest bool) places.Spot {
		return places.Spot{Site: attach.Site{Addr: addr}, Part: part, Lowest: lowest}
	}
	found := places.Found{Parts: 4, Spots: []places.Spot{at(0x1000, 0, true), at(0x1008, 0, false), at(0x1100, 1, true), at(0x1200, 2, true), at(0x1300, 3, true), at(own, -1, true)}}
	s.Find = func(attach.Site) (places.Found, error) { return found, nil }
	for parts, want := range map[int]string{
		4: "n: 0x1000 24, 0x1200 24 stack, 0x5000 80; s: 0x1000 112 [96], 0x1300 80 [0], 0x5000 40 [88]",
		5: "n: 0x5000 80; s: 0x5000 40 [88]", // the table is not of these copies
	} {
		found.Parts = parts
		target, err := s.Target(pointOf(t, "inline:vfs.join"))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range target.Arguments() {
			var where []string
			for _, c := range f.Copies {
				where = append(where, placeOf(c))
			}
			got = append(got, f.Name+": "+strings.Join(where, ", "))
		}
		if text := strings.Join(got, "; "); text != want {
			t.Errorf("of %d copies\ngot  %s\nwant %s", parts, text, want)
		}
	}
	found.Spots = found.Spots[:5]
	target, _ := s.Target(pointOf(t, "inline:vfs.join"))
	if err := target.Fill(); err == nil || !strings.Contains(err.Error(), "nowhere called, but inlined everywhere") {
		t.Error(err)
	}
}

func placeOf(c lang.CopyField) string {
	text := fmt.Sprintf("%#x %d", c.Addr, c.Offset)
	if len(c.More) > 0 {
		text += fmt.Sprint(" ", c.More)
	}
	if c.Stack {
		text += " stack"
	}
	return text
}
