//go:build tamago

package returns

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"time"

	"sonde/arch/amd64"
	"sonde/kprobes"
	"sonde/ktest/suites"
)

func init() {
	suites.Add("returns/results_of_all_shapes_unharmed", resultsUnharmed)
	suites.Add("returns/methods_closures_and_nosplit", methods)
	suites.Add("returns/hot_runtime_functions", hotRuntime)
	suites.Add("returns/interrupt_handlers", interruptHandlers)
}

type big struct {
	a, b [12]uint64
	s    string
}

type point struct{ x, y float64 }

//go:noinline
func many(a uint64) (uint64, string, float64, []byte, error, float32, int8) {
	return a + 1, strings.Repeat("x", int(a)), float64(a) / 2, []byte{byte(a)}, errors.New("no"), float32(a) * 2, -int8(a)
}

//go:noinline
func onStack(a uint64) (v big, err error) {
	v.a[0], v.b[11], v.s = a, 2*a, "on the stack"
	return v, nil
}

//go:noinline
func floats(a float64) (float64, float64, float64, complex128, point) {
	return a, math.Sqrt(a), -a, complex(a, -a), point{a + 1, a + 2}
}

//go:noinline
func named(a int) (n int, s string, err error) {
	defer func() { n *= 2; s += "!" }()
	defer func() {
		if e := recover(); e != nil {
			n, s, err = 21, "caught", fmt.Errorf("%v", e)
		}
	}()
	if a < 0 {
		panic("negative")
	}
	return a, "fine", nil
}

//go:noinline
func none() {}

// shapes are calls whose results are compared as text.
var shapes = []struct {
	name string
	f    any
	call func() string
}{
	{"many", many, func() string { return fmt.Sprint(many(7)) }},
	{"onStack", onStack, func() string { return fmt.Sprint(onStack(9)) }},
	{"floats", floats, func() string { return fmt.Sprint(floats(2)) }},
	{"named", named, func() string { return fmt.Sprint(named(4)) }},
	{"named, recovering", named, func() string { return fmt.Sprint(named(-4)) }},
	{"none", none, func() string { none(); return "" }},
}

// resultsUnharmed sets a handler that uses all the registers results are in.
func resultsUnharmed(t *suites.T) {
	for _, c := range shapes {
		want := c.call()
		spoil := func(ri *kprobes.KretprobeInstance, _ *amd64.Regs) int {
			v, w, x, y, z := floats(float64(ri.Task))
			return int(v + w + x + imag(y) + z.x)
		}
		for _, h := range []kprobes.KretprobeHandler{nothing, spoil} {
			rp := on(c.f, h)
			rp.EntryHandler = func(ri *kprobes.KretprobeInstance, r *amd64.Regs) int { h(ri, r); return 0 }
			if c.name == "floats" {
				rp.EntryHandler = nil // spoil calls it
			}
			remove := register(t, rp)
			for range 20 {
				if have := c.call(); have != want {
					t.Errorf("%s: %s, want %s", c.name, have, want)
				}
			}
			suites.Equal(t, c.name, rp.Hits(), 20)
			remove()
		}
	}
}

type counter struct{ n uint64 }

//go:noinline
func (c counter) value(a uint64) uint64 { return c.n + a }

//go:noinline
func (c *counter) add(a uint64) uint64 { c.n += a; return c.n }

//go:noinline
//go:nosplit
func noSplit(a uint64) uint64 { return a ^ 5 }

type adder interface{ add(uint64) uint64 }

func methods(t *suites.T) {
	c := &counter{}
	base := uint64(100)
	closure := func(a uint64) uint64 { return base + a }
	for _, f := range []struct {
		name string
		fn   any
		call func() uint64
		want uint64
	}{
		{"value method", counter.value, func() uint64 { return counter{7}.value(3) }, 10},
		{"pointer method", (*counter).add, func() uint64 { c.n = 5; return adder(c).add(3) }, 8},
		{"nosplit", noSplit, func() uint64 { return noSplit(6) }, 3},
		{"closure", closure, func() uint64 { return closure(6) }, 106},
	} {
		var seen uint64
		rp := on(f.fn, func(_ *kprobes.KretprobeInstance, r *amd64.Regs) int {
			seen = kprobes.RegsReturnValue(r)
			return 0
		})
		remove := register(t, rp)
		suites.Equal(t, f.name, f.call(), f.want)
		remove()
		if rp.Hits() == 1 {
			suites.Equal(t, f.name+" as the handler sees it", seen, f.want)
		} else if f.name != "value method" && f.name != "closure" { // may be a wrapper, or inlined
			t.Errorf("%s: %d hits", f.name, rp.Hits())
		}
	}
}

var kept atomic.Pointer[[]byte]

// hotRuntime probes what the runtime itself, the shell and the timers use,
// while all CPUs allocate.
func hotRuntime(t *suites.T) {
	const rounds = 3000
	var rps []*kprobes.Kretprobe
	for _, name := range []string{"runtime.mallocgc", "runtime.newobject", "time.Now", "runtime.makeslice"} {
		rp := &kprobes.Kretprobe{Handler: nothing, MaxActive: 100}
		rp.KP.SymbolName = name
		rps = append(rps, rp)
	}
	remove := register(t, rps...)
	t.Together(func(i int) {
		for j := range rounds {
			b := make([]byte, 16+j%64)
			b[0] = byte(j)
			kept.Store(&b)
			if time.Since(time.Now()) < 0 {
				t.Errorf("time runs backwards")
			}
		}
	})
	remove()
	for _, rp := range rps[:3] {
		if rp.Hits() == 0 {
			t.Errorf("%s: no hits", rp.KP.SymbolName)
		}
	}
}

// interruptHandlers probes what the timer interrupt calls, entry and return.
func interruptHandlers(t *suites.T) {
	const name = "sonde/kernel/irq.timer"
	k := &kprobes.Kprobe{SymbolName: name, PreHandler: func(*kprobes.Kprobe, *amd64.Regs) int { return 0 }}
	rp := &kprobes.Kretprobe{Handler: nothing, MaxActive: 64}
	rp.KP.SymbolName = name
	remove := register(t, rp)
	t.Must(kprobes.RegisterKprobe(k))
	t.Until("timer interrupts", func() bool {
		time.Sleep(time.Millisecond)
		return rp.Hits() > 50 && k.Hits() > 50
	})
	kprobes.UnregisterKprobe(k)
	remove()
	if l := k.Ledger(); l.Unexplained() != 0 {
		t.Errorf("account %+v", l)
	}
}
