package optprobe

import (
	"fmt"
	"slices"
	"testing"
)

// census counts places by what Check says of them.
type census struct {
	good, all int
	why       map[string]int
}

func (c *census) add(o Obstacle) {
	c.all++
	if o.Reason == Fine {
		c.good++
		return
	}
	if c.why == nil {
		c.why = map[string]int{}
	}
	text := o.Reason.String()
	if o.Reason == Unmovable {
		text += ": " + o.Move.String()
	}
	c.why[text]++
}

func (c *census) percent() float64 { return 100 * float64(c.good) / float64(c.all) }

func (c *census) String() string {
	s := fmt.Sprintf("%d of %d (%.1f %%)", c.good, c.all, c.percent())
	var lines []string
	for why, n := range c.why {
		lines = append(lines, fmt.Sprintf("\n%8d  %4.1f %%  %s", n, 100*float64(n)/float64(c.all), why))
	}
	slices.Sort(lines)
	slices.Reverse(lines)
	for _, l := range lines {
		s += l
	}
	return s
}

func TestMostOfTheKernelCanBeOptimized(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the kernel")
	}
	p := kernel(t)
	var heads, places census
	var s Scan
	tables := 0
	for i := range p.funcs {
		fn := p.function(i)
		if o := s.Read(fn); o.Reason != Fine {
			t.Logf("%s: %v", p.names[i], o)
		} else {
			tables += len(s.jumps)
		}
		_, head := s.Check(0)
		heads.add(head)
		for off := range fn.Code {
			if s.whole.Reason == NoDecode || s.cells[off]&begin == 0 || t.Failed() {
				continue
			}
			_, first := s.Check(off)
			places.add(first)
			if first.Reason == Fine {
				relocateAt(t, &s, off)
			}
		}
	}
	t.Logf("%d hidden entries, %d jump tables", p.entries.Len(), tables)
	t.Logf("function entries: %v", &heads)
	t.Logf("instructions: %v", &places)
	if heads.percent() < 97 || places.percent() < 80 {
		t.Error("less than 97 % of the function entries or 80 % of the instructions")
	}
}

// relocateAt checks the copy of a region that Check allows.
func relocateAt(t *testing.T, s *Scan, off int) {
	t.Helper()
	size, _ := s.Check(off)
	code, from := s.fn.Code[off:off+size], s.fn.Addr+uint64(off)
	const detour = 0xffffffff_88000000
	c, o := Relocate(code, from, detour)
	if o.Reason != Fine {
		t.Errorf("%#x: % x: allowed, but %v", from, code, o)
		return
	}
	sameMeaning(t, &c, code)
}

// BenchmarkRead measures what the optimizer does for a probe at a function's
// entry, except for the writing.
func BenchmarkRead(b *testing.B) {
	p := kernel(b)
	funcs := make([]Function, len(p.funcs))
	for i := range funcs {
		funcs[i] = p.function(i)
	}
	var s Scan
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		fn := &funcs[i%len(funcs)]
		i++
		s.Read(*fn)
		if size, o := s.Check(0); o.Reason == Fine {
			Relocate(fn.Code[:size], fn.Addr, fn.Addr+1<<20)
		}
	}
}
