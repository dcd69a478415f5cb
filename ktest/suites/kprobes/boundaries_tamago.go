//go:build tamago

package kprobes

import (
	"errors"
	"sync/atomic"
	"syscall"

	"sonde/arch/amd64"
	"sonde/kallsyms"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/ktest/suites/targets"
	"sonde/optprobe"
)

func init() {
	suites.Add("kprobes/every_boundary_of_every_shape", everyShape)
	suites.Add("kprobes/all_boundaries_of_a_shape_at_once", allBoundaries)
	suites.Add("kprobes/every_boundary_of_every_go_function", everyFunction)
	suites.Add("kprobes/all_boundaries_of_a_go_function_at_once", allOfFunction)
	suites.Add("kprobes/places_that_share_an_entry", shareEntries)
}

// A subject is a shape with what it does when no probe is near.
type subject struct {
	*targets.Shape
	fn       kallsyms.Symbol
	offs     []uintptr
	want     []targets.Result
	executed map[uintptr]uint64
}

// subjects runs and traces every shape.
func subjects(t *suites.T) (all []subject) {
	for _, s := range targets.Shapes() {
		fn := t.Containing(s.Entry)
		offs, list := boundaries(t, fn)
		want, err := s.Run()
		t.Must(err)
		all = append(all, subject{&s, fn, offs, want, executions(t, &s, fn, offs, list)})
	}
	return all
}

// same runs the shape again: nothing may differ.
func (s *subject) same(t *suites.T, what string, off uintptr) {
	got, err := s.Run()
	if err != nil {
		t.Errorf("%s at +%#x: %v", what, off, err)
		return
	}
	for i := range got {
		if d := got[i].Diff(&s.want[i]); d != "" {
			t.Errorf("%s, %s at +%#x, input %d: %s", s.Name, what, off, i, d)
			return
		}
	}
}

// everyShape sets a probe on each instruction of each shape, one at a time, and
// compares all registers, flags and memory, and the number of hits. The handler
// leaves no register as it was.
func everyShape(t *suites.T) {
	t.OneProcessor()
	points, hits := 0, uint64(0)
	var post atomic.Uint64
	for _, s := range subjects(t) {
		for _, off := range s.offs {
			for _, what := range []string{"a probe", "a probe with post-handler"} {
				k := &kprobes.Kprobe{
					Addr:       s.Entry + off,
					PreHandler: func(*kprobes.Kprobe, *amd64.Regs) int { targets.Clobber(); return 0 },
				}
				if what != "a probe" {
					k.PostHandler = func(*kprobes.Kprobe, *amd64.Regs, uint64) { targets.Clobber(); post.Add(1) }
				}
				post.Store(0)
				if err := kprobes.RegisterKprobe(k); err != nil {
					t.Errorf("%s+%#x: %v", s.Name, off, err)
					continue
				}
				s.same(t, what, off)
				kprobes.UnregisterKprobe(k)
				expect(t, k, s.executed[off], 0)
				if k.PostHandler != nil && post.Load() != s.executed[off] {
					t.Errorf("%s+%#x: %d calls of the post-handler, want %d", s.Name, off, post.Load(), s.executed[off])
				}
				points++
				hits += k.Hits()
			}
		}
	}
	clean(t)
	t.Logf("%d probes, %d hits", points, hits)
}

// allBoundaries sets a probe on every instruction of a shape at once.
func allBoundaries(t *suites.T) {
	t.OneProcessor()
	for _, s := range subjects(t) {
		var all []*kprobes.Kprobe
		for i, off := range s.offs {
			k := &kprobes.Kprobe{Addr: s.Entry + off}
			if i%3 == 1 {
				k.PostHandler = postNothing
			}
			all = append(all, k)
		}
		if err := kprobes.RegisterKprobes(all); err != nil {
			t.Errorf("%s: %v", s.Name, err)
			continue
		}
		s.same(t, "a probe everywhere", 0)
		kprobes.UnregisterKprobes(all)
		for i, off := range s.offs {
			expect(t, all[i], s.executed[off], 0)
		}
	}
	clean(t)
}

// everyFunction does the same with what the compiler makes. How often each
// instruction there is executed is not known, only how often the function is entered.
func everyFunction(t *suites.T) {
	t.OneProcessor()
	points := 0
	for _, f := range targets.Funcs() {
		fn := t.Function(pkg + f.Name)
		offs, list := boundaries(t, fn)
		for i, off := range offs {
			k := &kprobes.Kprobe{SymbolName: pkg + f.Name, Offset: off}
			if i%2 == 1 {
				k.PostHandler = postNothing
			}
			err := kprobes.RegisterKprobe(k)
			if err != nil && !(errors.Is(err, syscall.EILSEQ) && list[i].Movable() != 0) {
				t.Errorf("%s+%#x: %v", f.Name, off, err)
			}
			if err != nil {
				continue
			}
			if got := f.Call(); got != f.Want {
				t.Errorf("%s with a probe at +%#x returns %d, want %d", f.Name, off, got, f.Want)
			}
			kprobes.UnregisterKprobe(k)
			if off == 0 {
				expect(t, k, f.Calls, 0)
			} else {
				expect(t, k, k.Hits(), 0)
			}
			points++
		}
	}
	clean(t)
	t.Logf("%d probes", points)
}

func allOfFunction(t *suites.T) {
	for _, f := range targets.Funcs() {
		offs, list := boundaries(t, t.Function(pkg+f.Name))
		var all []*kprobes.Kprobe
		for i, off := range offs {
			if list[i].Movable() == 0 {
				all = append(all, &kprobes.Kprobe{SymbolName: pkg + f.Name, Offset: off})
			}
		}
		if err := kprobes.RegisterKprobes(all); err != nil {
			t.Errorf("%s: %v", f.Name, err)
			continue
		}
		for range 3 {
			if got := f.Call(); got != f.Want {
				t.Errorf("%s with a probe everywhere returns %d, want %d", f.Name, got, f.Want)
			}
		}
		kprobes.UnregisterKprobes(all)
		expect(t, all[0], 3*f.Calls, 0)
	}
	clean(t)
}

// shareEntries: each hit is its own place's, although so many places are probed that some are first looked for where
// another one is.
func shareEntries(t *suites.T) {
	defer optprobe.Optimization.Store(optprobe.Optimization.Get())
	t.Must(optprobe.Optimization.Store(false))
	var ks []*kprobes.Kprobe
	var wrong atomic.Uint64
	for _, f := range targets.Funcs() {
		fn := t.Function(pkg + f.Name)
		offs, _ := boundaries(t, fn)
		for _, off := range offs {
			k := &kprobes.Kprobe{Addr: uintptr(fn.Addr) + off, PreHandler: func(k *kprobes.Kprobe, r *amd64.Regs) int {
				if r.IP-1 != uint64(k.Addr) {
					wrong.Add(1)
				}
				return 0
			}}
			if err := kprobes.RegisterKprobe(k); err == nil {
				ks = append(ks, k)
			}
		}
	}
	for _, f := range targets.Funcs() {
		if got := f.Call(); got != f.Want {
			t.Errorf("%s: %d, want %d", f.Name, got, f.Want)
		}
	}
	hits := uint64(0)
	for _, k := range ks {
		hits += k.Hits()
	}
	kprobes.UnregisterKprobes(ks)
	if wrong.Load() != 0 || len(ks) < 300 || hits < uint64(len(ks))/2 {
		t.Errorf("%d of %d hits were another place's, of %d", wrong.Load(), hits, len(ks))
	}
	t.Logf("%d places, %d hits", len(ks), hits)
}
