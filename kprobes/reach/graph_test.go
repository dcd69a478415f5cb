package reach

import (
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

func TestWalkComesEverywhereOnceAndKnowsTheWay(t *testing.T) {
	f, g := chain(t)
	var seen []string
	r := g.Walk([]uint64{f.addr(0)}, func(f kallsyms.Symbol, _ Reached) Next {
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
		r := g.Walk([]uint64{f.addr(0)}, func(f kallsyms.Symbol, _ Reached) Next {
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
		"x/e": `list: "x/e": kallsyms: "x/e": no such symbol`, "y*": `list: "y*"`, "data": "is data",
		"x/aa": "did you mean x/a",
	} {
		wrong := g.check("list", names{name})
		if len(wrong) != 1 || !contains(wrong[0].Error(), says) {
			t.Errorf("%s: %v, want %q", name, wrong, says)
		}
	}
}
