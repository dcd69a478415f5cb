//go:build tamago

package kprobes

import (
	"encoding/binary"
	"math"
	"sync/atomic"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/ktest/suites/targets"
)

func init() {
	suites.Add("kprobes/arguments_are_in_registers", argumentsInRegisters)
	suites.Add("kprobes/float_arguments_are_in_xmm", floatArguments)
	suites.Add("kprobes/changed_argument_takes_effect", changedArgument)
	suites.Add("kprobes/changed_result_takes_effect", changedResult)
	suites.Add("kprobes/pre_handler_can_return_for_the_function", returnsForFunction)
	suites.Add("kprobes/taking_over_skips_the_rest", takingOverSkips)
	suites.Add("kprobes/xmm_survive_any_handler", xmmSurvive)
}

// argumentsInRegisters: Go's calling convention has nine integer registers.
func argumentsInRegisters(t *suites.T) {
	var got [9]uint64
	var g atomic.Uint64
	k := on(t, "Nine", func(r *amd64.Regs) {
		got = [9]uint64{r.AX, r.BX, r.CX, r.DI, r.SI, r.R8, r.R9, r.R10, r.R11}
		g.Store(r.R14)
	})
	sum := targets.Nine(11, 22, 33, 44, 55, 66, 77, 88, 99)
	kprobes.UnregisterKprobe(k)
	if want := [9]uint64{11, 22, 33, 44, 55, 66, 77, 88, 99}; got != want || sum != 3135 {
		t.Errorf("arguments %v, want %v; sum %d, want 3135", got, want, sum)
	}
	if g.Load() == 0 {
		t.Errorf("R14, the goroutine, is 0")
	}
}

// floatArguments reads and changes the interrupted code's X0 and X1.
func floatArguments(t *suites.T) {
	var a, b atomic.Uint64
	k := on(t, "Float", func(r *amd64.Regs) {
		x := trap.XMM(r)
		a.Store(binary.LittleEndian.Uint64(x[0][:]))
		b.Store(binary.LittleEndian.Uint64(x[1][:]))
		binary.LittleEndian.PutUint64(x[1][:], math.Float64bits(4))
	})
	got := targets.Float(6, 2)
	kprobes.UnregisterKprobe(k)
	if x, y := math.Float64frombits(a.Load()), math.Float64frombits(b.Load()); x != 6 || y != 2 {
		t.Errorf("arguments %v and %v, want 6 and 2", x, y)
	}
	if want := (6.+4)*(6.-4) + 6./4; got != want {
		t.Errorf("with the second argument changed to 4: %v, want %v", got, want)
	}
}

func changedArgument(t *suites.T) {
	k := on(t, "Leaf", func(r *amd64.Regs) { r.AX = 100 })
	got := targets.Leaf(1, 2)
	kprobes.UnregisterKprobe(k)
	if got != 302 {
		t.Errorf("Leaf(1, 2) with the first argument changed to 100 is %d, want 302", got)
	}
}

// changedResult changes AX at the RET.
func changedResult(t *suites.T) {
	fn := t.Function(pkg + "Leaf")
	offs, _ := boundaries(t, fn)
	k := arm(t, &kprobes.Kprobe{
		SymbolName: pkg + "Leaf", Offset: offs[len(offs)-1],
		PreHandler: func(_ *kprobes.Kprobe, r *amd64.Regs) int { r.AX += 1000; return 0 },
	})
	got := targets.Leaf(1, 2)
	kprobes.UnregisterKprobe(k)
	if got != 1005 {
		t.Errorf("Leaf(1, 2) with 1000 added at its return is %d, want 1005", got)
	}
}

// returning makes r leave the function it has just entered, with result v.
func returning(r *amd64.Regs, v uint64) int {
	r.AX = v
	r.IP = word(r.SP)
	r.SP += 8
	return 1
}

func returnsForFunction(t *suites.T) {
	for _, name := range []string{"Leaf", "Small", "Large"} {
		var post atomic.Int32
		k := arm(t, &kprobes.Kprobe{
			SymbolName:  pkg + name,
			PreHandler:  func(_ *kprobes.Kprobe, r *amd64.Regs) int { return returning(r, 4711) },
			PostHandler: func(*kprobes.Kprobe, *amd64.Regs, uint64) { post.Add(1) },
		})
		got := map[string]func() uint64{
			"Leaf":  func() uint64 { return targets.Leaf(1, 2) },
			"Small": func() uint64 { return targets.Small(1) },
			"Large": func() uint64 { return targets.Large(1) },
		}[name]()
		kprobes.UnregisterKprobe(k)
		expect(t, k, 1, 0)
		if got != 4711 || post.Load() != 0 {
			t.Errorf("%s returns %d, want 4711; %d calls of the post-handler, want none", name, got, post.Load())
		}
	}
}

func takingOverSkips(t *suites.T) {
	first := on(t, "Leaf", nothing)
	second := arm(t, &kprobes.Kprobe{
		SymbolName: pkg + "Leaf",
		PreHandler: func(_ *kprobes.Kprobe, r *amd64.Regs) int { return returning(r, 5) },
		// So that no jump replaces the breakpoint: a handler that a jump calls cannot take over. On
		// a busy host there was time for one.
		PostHandler: postNothing,
	})
	third := on(t, "Leaf", nothing)
	got := targets.Leaf(1, 2)
	kprobes.UnregisterKprobes([]*kprobes.Kprobe{first, second, third})
	if got != 5 || first.Hits() != 1 || second.Hits() != 1 || third.Hits() != 0 {
		t.Errorf("result %d, hits %d %d %d; want 5, 1 1 0", got, first.Hits(), second.Hits(), third.Hits())
	}
}

var clobber = targets.Clobber // an indirect call: its code does not show what it does

// xmmSurvive makes handlers of every kind change all registers that a handler may
// change, however they come to it, while the probed code has values in each.
func xmmSurvive(t *suites.T) {
	s := movAbs(t)
	want, err := s.Run()
	t.Must(err)
	var sum float64
	for _, h := range []struct {
		name string
		f    func()
	}{
		{"nothing", func() {}},
		{"floating point", func() { sum = sum*1.5 + 1 }},
		{"assembly", func() { targets.Clobber() }},
		{"assembly by a variable", func() { clobber() }},
		{"copying", func() { copy(scratch[100:], scratch[:100]) }},
	} {
		for _, post := range []bool{false, true} {
			k := &kprobes.Kprobe{
				Addr:       s.Entry,
				PreHandler: func(*kprobes.Kprobe, *amd64.Regs) int { h.f(); return 0 },
			}
			if post {
				k.PostHandler = func(*kprobes.Kprobe, *amd64.Regs, uint64) { h.f() }
			}
			arm(t, k)
			got, err := s.Run()
			kprobes.UnregisterKprobe(k)
			if err != nil {
				t.Errorf("%v", err)
			}
			if d := got[0].Diff(&want[0]); d != "" {
				t.Errorf("%s, post-handler %v: %s", h.name, post, d)
			}
			expect(t, k, 1, 0)
		}
	}
}

var scratch [200]byte
