package reach

import (
	"slices"
	"testing"

	"sonde/kallsyms"
)

// TestBelow: the nearest come first, each once; what is left out is not followed; calls through values are named.
func TestBelow(t *testing.T) {
	f := &fake{}
	f.add("top", f.call(0, 1)+f.call(5, 2)+f.call(10, 1)+ret)
	f.add("a", f.call(0, 3)+f.call(5, 0)+ret)
	f.add("b", f.call(0, 4)+"\xff\xd0"+ret) // CALL AX
	f.add("deep", f.call(0, 5)+ret)
	f.add("left", f.call(0, 5)+ret)
	f.add("deepest", ret)
	g := f.graph(t)
	names := func(list []kallsyms.Symbol) (names []string) {
		for _, s := range list {
			names = append(names, s.Name)
		}
		return names
	}
	for depth, want := range [][]string{nil, {"a", "b"}, {"a", "b", "deep"}, {"a", "b", "deep", "deepest"}, {"a", "b", "deep", "deepest"}} {
		found, blind := g.Below(f.addr(0), depth, func(s kallsyms.Symbol) bool { return s.Name == "left" })
		if got := names(found); !slices.Equal(got, want) {
			t.Errorf("%d deep: %v, want %v", depth, got, want)
		}
		if got := names(blind); slices.Contains(got, "b") != (depth > 1) || len(got) > 1 {
			t.Errorf("%d deep: %v call through values", depth, got)
		}
	}
}
