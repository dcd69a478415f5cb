package tally

import (
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestHistIsDrawnAsBpftraceDoes(t *testing.T) {
	h := NewHist(3)
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
			h.Add(int(v%3), v)
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
	h = NewHist(1)
	h.Add(0, math.MaxUint64)
	if got := draw(); got != line("[8E, ...)", "1", 52) {
		t.Errorf("the greatest: %q", got)
	}
}

// TestEachIsCounted adds from many goroutines at once, several of them to each part; nothing
// is lost, or counted twice.
func TestEachIsCounted(t *testing.T) {
	const workers, each, cpus = 8, 2000, 3
	h := NewHist(cpus)
	values, stacks := NewCounts(cpus, 1, 1024), NewCounts(cpus, 3, 1024)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range each {
				h.Add(w%cpus, uint64(i))
				values.Add(w%cpus, uintptr(i%100))
				stacks.Add(w%cpus, []uintptr{uintptr(i % 10), uintptr(w % 2), 7}[:2+w%2]...)
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
			t.Errorf("value %d: %d times", v.Key, v.Count)
		}
	}
	ss := stacks.All()
	if len(ss) != 20 || stacks.Lost() != 0 {
		t.Errorf("%d stacks, %d lost", len(ss), stacks.Lost())
	}
	for _, s := range ss {
		if s.Count != workers*each/20 || len(s.Key) != 2+int(s.Key[1]) {
			t.Errorf("stack %v: %d times", s.Key, s.Count)
		}
	}
}

func TestWhatDoesNotFitIsLost(t *testing.T) {
	const room = 64
	c := NewCounts(1, 2, room)
	for i := range uintptr(room + 5) {
		c.Add(0, i)
	}
	c.Add(0, 3)
	all := c.All()
	if len(all) != room || c.Lost() != 5 || all[0].Count != 2 || !slices.Equal(all[0].Key, []uintptr{3}) {
		t.Errorf("%d keys, %d lost, %v first", len(all), c.Lost(), all[0])
	}
}

// TestKeys: the same words are another key if there are more of them; what is too long is cut.
func TestKeys(t *testing.T) {
	c := NewCounts(2, 2, 64)
	for _, key := range [][]uintptr{{}, {0}, {0, 0}, {0, 0, 1}, {0, 1}} {
		c.Add(0, key...)
		c.Add(1, key...)
	}
	all := c.All()
	if len(all) != 4 || all[0].Count != 4 || !slices.Equal(all[0].Key, []uintptr{0, 0}) || all[3].Count != 2 {
		t.Errorf("%v", all)
	}
}

func TestAddAllocatesNothing(t *testing.T) {
	h := NewHist(1)
	c := NewCounts(1, 3, 1024)
	calls := []uintptr{1, 2, 3}
	n := uint64(0)
	if got := testing.AllocsPerRun(1000, func() { n++; h.Add(0, n); c.Add(0, uintptr(n)); calls[0]++; c.Add(0, calls...) }); got != 0 {
		t.Errorf("%v allocations", got)
	}
}
