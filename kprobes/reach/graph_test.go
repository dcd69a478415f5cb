package reach

import (
	"encoding/binary"
	"slices"
	"testing"

	"sonde/kallsyms"
)

// chain is a calls b twice, b jumps to c, c calls a and itself, and nothing calls d.
func chain(t *testing.T) (*fake, *Graph) {
	f := &fake{}
	f.add("x/a", f.call(0, 1)+f.call(5, 1)+ret)
	f.add("x/b", nop+f.jmp(1, 2))
	f.add("x/c", f.call(0, 0)+f.call(5, 2)+ret)
	f.add("x/d", f.call(0, 1)+ret)
	return f, f.graph(t)
}

func TestFuncHasWhereItsCodeLeads(t *testing.T) {
	f := &fake{}
	f.add("calls", f.call(0, 1)+f.call(5, 1)+f.jmp(10, 2)+"\xeb\xef") // and back to itself
	f.add("indirect", nop+"\xff\xd0"+"\xff\x21"+ret)                  // CALL AX; JMP (CX)
	f.add("switch", "\xff\x24\xc8"+ret)                               // JMP (AX)(CX*8)
	f.add("lost", "\xe8\x00\x00\x01\x00"+ret)                         // CALL beyond all functions
	f.add("broken", nop+"\x06")
	g := f.graph(t)

	if c := function(t, g, "calls"); !slices.Equal(c.Calls, []uint64{f.addr(1), f.addr(2)}) || !slices.Equal(c.Tails, []uint64{f.addr(2)}) ||
		c.Lost || c.Indirect != nil || c.Tables || c.Err != nil {
		t.Errorf("calls: %+v", c)
	}
	if c := function(t, g, "indirect"); !slices.Equal(c.Indirect, []int{1, 3}) || c.Tables || c.Calls != nil {
		t.Errorf("indirect: %+v", c)
	}
	if c := function(t, g, "switch"); c.Indirect != nil || !c.Tables {
		t.Errorf("switch: %+v", c)
	}
	if c := function(t, g, "lost"); !c.Lost || c.Calls != nil {
		t.Errorf("lost: %+v", c)
	}
	if c := function(t, g, "broken"); c.Err == nil {
		t.Error("broken: no error")
	}
	if again := function(t, g, "calls"); again != function(t, g, "calls") {
		t.Error("a function was read twice")
	}
	if _, ok := g.At(0x9000); ok {
		t.Error("data is a function")
	}
	if _, ok := g.At(1); ok {
		t.Error("nothing is a function")
	}
}

// TestFuncValuesAndInterfacesAreSeen: a closure's value, a table of methods, and what a variable
// holds of them.
func TestFuncValuesAndInterfacesAreSeen(t *testing.T) {
	const value, table, variable, text = 0x9000, 0x9010, 0x9040, 0x9050
	f := &fake{}
	rip := func(op string, off int, to uint64) string { // LEAQ or MOVQ to(IP), AX
		at := f.addr(len(f.names)) + uint64(off) + 7
		return string(binary.LittleEndian.AppendUint32([]byte("\x48"+op+"\x05"), uint32(to-at)))
	}
	f.add("x/value", rip("\x8d", 0, value)+ret)
	f.add("x/table", rip("\x8d", 0, table)+ret)
	f.add("x/code", rip("\x8d", 0, f.addr(6))+ret)
	f.add("x/variable", rip("\x8b", 0, variable)+"\xff\x10"+ret) // CALL (AX)
	f.add("x/loads", rip("\x8b", 0, variable)+ret)               // and calls nothing
	f.add("runtime.value", rip("\x8d", 0, value)+ret)
	f.add("x/a", ret)
	f.add("x/b", ret)
	f.add("x/text", rip("\x8d", 0, text)+f.call(7, 6)+ret)
	g := f.graph(t)
	a, b := f.addr(6), f.addr(7)
	if got := g.seen(function(t, g, "x/value")); got != nil {
		t.Errorf("without data: %x", got)
	}
	data := map[uint64]uint64{value: a, table: 1, table + 8: 2, table + 16: 3, table + 24: a, table + 32: b, table + 40: a + 1,
		variable: table, text: 0x6f77207478657420}
	g.Word = func(addr uint64) (uint64, bool) { w, ok := data[addr]; return w, ok }
	for name, want := range map[string][]uint64{
		"x/value": {a}, "x/table": {a, b}, "x/code": {a}, "x/variable": {a, b}, "x/loads": nil, "runtime.value": nil, "x/text": {a},
	} {
		if got := g.seen(function(t, g, name)); !slices.Equal(got, want) {
			t.Errorf("%s: %x, want %x", name, got, want)
		}
	}
}

func TestWalkComesEverywhereOnceAndKnowsTheWay(t *testing.T) {
	f, g := chain(t)
	var seen []string
	r := g.walk([]uint64{f.addr(0)}, calls, func(f kallsyms.Symbol, _ Reached) Next {
		seen = append(seen, f.Name)
		return Into
	})
	if !slices.Equal(seen, []string{"x/a", "x/b", "x/c"}) || len(r) != 3 {
		t.Errorf("seen %q, reached %d", seen, len(r))
	}
	if got := Arrows(g.Path(r, f.addr(2))); got != "a -> b -> c" {
		t.Errorf("path %q", got)
	}
	if got := Arrows(g.Path(r, f.addr(0))); got != "a" {
		t.Errorf("path %q", got)
	}
}

func TestWalkSkipsAndStops(t *testing.T) {
	f, g := chain(t)
	for _, c := range []struct {
		next Next
		want []uint64
	}{
		{Skip, []uint64{f.addr(0)}},
		{Stop, []uint64{f.addr(0), f.addr(1)}},
	} {
		n := 0
		r := g.walk([]uint64{f.addr(0)}, calls, func(f kallsyms.Symbol, _ Reached) Next {
			n++
			if f.Name == "x/b" {
				return c.next
			}
			return Into
		})
		for _, addr := range c.want {
			if _, ok := r[addr]; !ok {
				t.Errorf("%v: %#x is not reached", c.next, addr)
			}
		}
		if len(r) != len(c.want) || n != 2 {
			t.Errorf("%v: reached %d, visited %d", c.next, len(r), n)
		}
	}
}

func TestArrowsAreShort(t *testing.T) {
	got := Arrows([]string{"sonde/kernel/mm.Map[go.shape/x.int]", "runtime.gogo.abi0", "gogo"})
	if got != "mm.Map[go.shape/x.int] -> runtime.gogo -> gogo" {
		t.Error(got)
	}
}

func TestNamesFit(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"a.b", "a.b", true}, {"a.b", "a.b.abi0", true}, {"a.b", "a.bc", false}, {"a.b", "a.b.func1", false},
		{"a.b*", "a.bc", true}, {"a.*", "a.b", true}, {"a.*", "a/x.b", false}, {"a.(*T).m", "a.(*T).m", true},
	} {
		if fits(c.pattern, c.name) != c.want {
			t.Errorf("fits(%q, %q) is not %v", c.pattern, c.name, c.want)
		}
	}
}

func TestCheckFindsNamesThatFitNothing(t *testing.T) {
	_, g := chain(t)
	if wrong := g.check("list", names{"x/a", "x/*", "x/d"}); wrong != nil {
		t.Error(wrong)
	}
	for name, says := range map[string]string{
		"x/e": `list: "x/e": there is no symbol x/e`, "y*": `list: "y*"`, "data": "is data",
		"x/aa": "did you mean x/a",
	} {
		wrong := g.check("list", names{name})
		if len(wrong) != 1 || !contains(wrong[0].Error(), says) {
			t.Errorf("%s: %v, want %q", name, wrong, says)
		}
	}
}
