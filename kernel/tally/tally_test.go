package tally

import (
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"sonde/kallsyms"
)

func TestSome(t *testing.T) {
	if got := Some(0, "call") + Some(1, "call") + Some(uint64(2), "call"); got != "0 calls1 call2 calls" {
		t.Error(got)
	}
}

func TestHistIsDrawnAsBpftraceDoes(t *testing.T) {
	var h Hist
	draw := func() string {
		var b strings.Builder
		h.Draw(&b)
		return b.String()
	}
	if got := draw(); got != "nothing was counted\n" {
		t.Errorf("empty: %q", got)
	}
	for v, n := range map[uint64]int{0: 1, 1: 2, 5: 4, 7: 4, 1500: 1, math.MaxUint64: 0} {
		for range n {
			h.Add(v)
		}
	}
	line := func(span, n string, bar int) string {
		return span + strings.Repeat(" ", 25-len(span)-len(n)) + n + " |" + strings.Repeat("@", bar) + strings.Repeat(" ", 52-bar) + "|\n"
	}
	want := line("[0]", "1", 6) + line("[1]", "2", 13) + line("[2, 4)", "0", 0) + line("[4, 8)", "8", 52) + line("[8, 16)", "0", 0) +
		line("[16, 32)", "0", 0) + line("[32, 64)", "0", 0) + line("[64, 128)", "0", 0) + line("[128, 256)", "0", 0) +
		line("[256, 512)", "0", 0) + line("[512, 1K)", "0", 0) + line("[1K, 2K)", "1", 6)
	if got := draw(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if h.Total() != 12 {
		t.Errorf("%d values", h.Total())
	}
	h.Reset()
	h.Add(math.MaxUint64)
	if got := draw(); got != line("[8E, ...)", "1", 52) {
		t.Errorf("the greatest: %q", got)
	}
}

// TestEachIsCounted adds from many goroutines at once; nothing is lost, or
// counted twice.
func TestEachIsCounted(t *testing.T) {
	const workers, each = 8, 2000
	var h Hist
	var values Values
	var stacks Stacks
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range each {
				h.Add(uint64(i))
				values.Add(uint64(i % 100))
				stacks.Add([]uintptr{uintptr(i % 10), uintptr(w % 2), 7})
			}
		})
	}
	wg.Wait()
	if h.Total() != workers*each {
		t.Errorf("hist: %d", h.Total())
	}
	all := values.All()
	if len(all) != 100 || values.Lost() != 0 {
		t.Errorf("%d values, %d lost", len(all), values.Lost())
	}
	for _, v := range all {
		if v.Count != workers*each/100 {
			t.Errorf("value %d: %d times", v.Value, v.Count)
		}
	}
	ss := stacks.All()
	if len(ss) != 20 || stacks.Lost() != 0 {
		t.Errorf("%d stacks, %d lost", len(ss), stacks.Lost())
	}
	for _, s := range ss {
		if s.Count != workers*each/20 || len(s.Calls) != 3 || s.Calls[2] != 7 {
			t.Errorf("stack %v: %d times", s.Calls, s.Count)
		}
	}
}

func TestWhatDoesNotFitIsLost(t *testing.T) {
	var values Values
	var stacks Stacks
	for i := range room + 5 {
		values.Add(uint64(i))
		stacks.Add([]uintptr{uintptr(i)})
	}
	values.Add(3)
	if len(values.All()) != room || values.Lost() != 5 || values.All()[0] != (Value{3, 2}) {
		t.Errorf("%d values, %d lost, %v first", len(values.All()), values.Lost(), values.All()[0])
	}
	if len(stacks.All()) != room || stacks.Lost() != 5 {
		t.Errorf("%d stacks, %d lost", len(stacks.All()), stacks.Lost())
	}
	values.Reset()
	stacks.Reset()
	if len(values.All())+len(stacks.All()) != 0 || values.Lost()+stacks.Lost() != 0 {
		t.Error("not empty after Reset")
	}
	stacks.Add(make([]uintptr, Depth+3))
	if s := stacks.All(); len(s) != 1 || len(s[0].Calls) != Depth {
		t.Errorf("a deep one: %v", s)
	}
}

func TestAddAllocatesNothing(t *testing.T) {
	var h Hist
	var values Values
	var stacks Stacks
	calls := []uintptr{1, 2, 3}
	n := uint64(0)
	if got := testing.AllocsPerRun(1000, func() { n++; h.Add(n); values.Add(n); calls[0]++; stacks.Add(calls) }); got != 0 {
		t.Errorf("%v allocations", got)
	}
}

func TestFunctionsByPattern(t *testing.T) {
	table, err := kallsyms.Load(kallsyms.Encode([]kallsyms.Symbol{
		{Name: "sonde/kernel/vfs.Read", Addr: 0x1000, Size: 16, Type: 'T'},
		{Name: "sonde/kernel/vfs.(*File).Read", Addr: 0x1010, Size: 16, Type: 'T'},
		{Name: "sonde/linux/desc.Read", Addr: 0x1020, Size: 16, Type: 'T'},
		{Name: "runtime.mallocgc", Addr: 0x1030, Size: 16, Type: 'T'},
		{Name: "sonde/kernel/vfs.Root", Addr: 0x2000, Size: 8, Type: 'D'},
	}))
	if err != nil {
		t.Fatal(err)
	}
	for pattern, want := range map[string][]string{
		"vfs.*":                 {"sonde/kernel/vfs.Read", "sonde/kernel/vfs.(*File).Read"},
		"vfs.Read":              {"sonde/kernel/vfs.Read"},
		"*Read":                 {"sonde/kernel/vfs.Read", "sonde/kernel/vfs.(*File).Read", "sonde/linux/desc.Read"},
		"vfs.(\\*File).Read":    nil,
		"vfs.(*File).Read":      {"sonde/kernel/vfs.(*File).Read"},
		"*vfs*Re*d":             {"sonde/kernel/vfs.Read", "sonde/kernel/vfs.(*File).Read"},
		"runtime.malloc*c":      {"runtime.mallocgc"},
		"fs.*":                  nil,
		"sonde/kernel/vfs.Read": {"sonde/kernel/vfs.Read"},
	} {
		var got []string
		for _, s := range Functions(table, pattern) {
			got = append(got, s.Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", pattern, got, want)
		}
	}
}
