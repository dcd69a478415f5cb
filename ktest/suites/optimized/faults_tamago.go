//go:build tamago

package optimized

import (
	"strings"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/kprobes"
	"sonde/ktest/suites"
)

func init() {
	suites.Add("optimized/fault_in_a_copy_is_the_functions", faultInCopy)
	suites.Add("optimized/fault_handler_fixes_a_copy", fixesCopy)
}

func loadThrough(p *uint64) uint64
func storeThrough(p *uint64)
func callThrough(p *uint64)
func jumpThrough(p *uint64)
func divideBy(n uint64) uint64

//go:noinline
func dereference(p *[4]uint64) uint64 {
	return p[3]*2 + 1
}

//go:noinline
func indirect(p *func() uint64) uint64 {
	return (*p)() + 1
}

// culprits fault somewhere in the function sym.
var culprits = []struct {
	sym  string
	call func()
}{
	{"dereference", func() { dereference(nil) }},
	{"indirect", func() { indirect(nil) }},
	{"indirect", func() { var f func() uint64; indirect(&f) }},
	{"loadThrough.abi0", func() { loadThrough(nil) }},
	{"storeThrough.abi0", func() { storeThrough(nil) }},
	{"callThrough.abi0", func() { callThrough(nil) }},
	{"jumpThrough.abi0", func() { jumpThrough(nil) }},
	{"divideBy.abi0", func() { divideBy(0) }},
}

// faultInCopy puts a jump everywhere in functions that fault. The panic is the
// same as without a probe, with the same lines. A call whose operand faults used
// to leave its return address on the stack, and the runtime gave up.
func faultInCopy(t *suites.T) {
	t.OneProcessor()
	done := 0
	for _, c := range culprits {
		want := suites.Crash(c.call)
		if bare, _, _ := strings.Cut(c.sym, "."); !strings.Contains(want, "optimized."+bare+":") {
			t.Fatalf("%s without probe:\n%s", c.sym, want)
		}
		fn := t.Function("sonde/ktest/suites/optimized." + c.sym)
		for _, off := range boundaries(t, fn) {
			k := at(uintptr(fn.Addr)+off, pre)
			if kprobes.RegisterKprobe(k) != nil {
				continue
			}
			optimize(t)
			if kprobes.Optimized(k.Addr) {
				done++
			}
			for range 3 {
				if have := suites.Crash(c.call); have != want {
					t.Errorf("jump at %s+%#x:\n%swant\n%s", c.sym, off, have, want)
				}
			}
			kprobes.UnregisterKprobe(k)
			account(t, k, c.sym, k.Hits(), 0)
		}
	}
	clean(t)
	t.Logf("%d places optimized", done)
	if done < 20 {
		t.Errorf("too few")
	}
}

// fixesCopy makes a handler call an optimized function that faults in its copy, and
// a fault-handler fix that. It used to continue in the middle of the jump.
func fixesCopy(t *suites.T) {
	const calls = 20
	word := uint64(4711)
	fn := t.Function("sonde/ktest/suites/optimized.loadThrough.abi0")
	got, faults := uint64(0), uint64(0)
	outer := at(entry(victim), func(*kprobes.Kprobe, *amd64.Regs) int { got += loadThrough(nil); return 0 })
	outer.FaultHandler = func(_ *kprobes.Kprobe, r *amd64.Regs, _ int) int {
		faults++
		r.AX = uint64(uintptr(unsafe.Pointer(&word)))
		return 1
	}
	inner := at(uintptr(fn.Addr)+boundaries(t, fn)[1], pre) // the load is two bytes after it
	optimized(t, outer, inner)
	for i := range uint64(calls) {
		suites.Equal(t, "victim", victim(i), 3*i+3)
	}
	kprobes.UnregisterKprobes([]*kprobes.Kprobe{outer, inner})
	account(t, outer, "outer", calls, 0)
	account(t, inner, "inner", 0, calls)
	suites.Equal(t, "faults", faults, calls)
	suites.Equal(t, "what was read", got, calls*word)
	clean(t)
}
