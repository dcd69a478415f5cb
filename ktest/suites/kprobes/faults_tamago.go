//go:build tamago

package kprobes

import (
	"errors"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"syscall"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/kernel/text"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/ktest/suites/targets"
)

func init() {
	suites.Add("kprobes/fault_of_the_instruction_is_the_functions", faultIsTheFunctions)
	suites.Add("kprobes/fault_handler_is_told", faultHandlerIsTold)
	suites.Add("kprobes/fault_handler_can_repair", faultHandlerRepairs)
	suites.Add("kprobes/handlers_that_break_the_rules_are_abandoned", handlersAreAbandoned)
	suites.Add("kprobes/abandoned_handler_has_its_breakpoint_taken_out", abandonedIsDisarmed)
}

// dereference is probed at its load, which faults when p is nil. The function
// has no frame: the load is its first instruction that matters.
//
//go:noinline
func dereference(p *uint64) uint64 { return *p }

const dereferenceName = "sonde/ktest/suites/kprobes.dereference"

// load returns the offset of dereference's load.
func load(t *suites.T) uintptr {
	offs, list := boundaries(t, t.Function(dereferenceName))
	for i := range list {
		if list[i].HasMem() && list[i].Opcode == 0x8b {
			return offs[i]
		}
	}
	t.Fatalf("there is no load in %s", dereferenceName)
	return 0
}

// faulting calls dereference(nil) and returns the panic and its stack.
func faulting() (e any, stack string) {
	defer func() {
		e = recover()
		stack = string(debug.Stack())
	}()
	dereference(nil)
	return nil, ""
}

// faultIsTheFunctions: whether the copy is boosted or stepped, the panic is that
// of the original, at its place.
func faultIsTheFunctions(t *suites.T) {
	_, want := faulting()
	for _, post := range []kprobes.PostHandler{nil, postNothing} {
		k := arm(t, &kprobes.Kprobe{SymbolName: dereferenceName, Offset: load(t), PostHandler: post})
		e, stack := faulting()
		v := uint64(77)
		if got := dereference(&v); got != 77 {
			t.Errorf("a load that does not fault gives %d", got)
		}
		kprobes.UnregisterKprobe(k)
		expect(t, k, 2, 0)
		if err, ok := e.(runtime.Error); !ok || !strings.Contains(err.Error(), "nil pointer dereference") {
			t.Errorf("panic %v, want a nil pointer dereference", e)
		}
		if place(stack) != place(want) || place(want) == "" {
			t.Errorf("the stack says %q, without a probe %q", place(stack), place(want))
		}
	}
	clean(t)
}

// place is the line of a stack with dereference's file, line and offset.
func place(stack string) string {
	_, rest, _ := strings.Cut(stack, "probes.dereference(")
	_, rest, _ = strings.Cut(rest, "\n")
	line, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(line)
}

func faultHandlerIsTold(t *suites.T) {
	var calls, vector atomic.Int32
	k := arm(t, &kprobes.Kprobe{
		SymbolName: dereferenceName, Offset: load(t), PostHandler: postNothing,
		FaultHandler: func(_ *kprobes.Kprobe, r *amd64.Regs, trapnr int) int {
			calls.Add(1)
			vector.Store(int32(trapnr))
			return 0
		},
	})
	e, _ := faulting()
	kprobes.UnregisterKprobe(k)
	if calls.Load() != 1 || vector.Load() != amd64.VEC_PF || e == nil {
		t.Errorf("%d calls with trap %d, panic %v; want one with %d, and a panic", calls.Load(), vector.Load(), e, amd64.VEC_PF)
	}
}

// faultHandlerRepairs sets the register that the load uses as its pointer, and makes it run again:
// another hit, without a fault.
func faultHandlerRepairs(t *suites.T) {
	value := new(uint64)
	*value = 4711
	address := uint64(uintptr(unsafe.Pointer(value)))
	var faults atomic.Int32
	k := arm(t, &kprobes.Kprobe{
		SymbolName: dereferenceName, Offset: load(t), PostHandler: postNothing,
		FaultHandler: func(_ *kprobes.Kprobe, r *amd64.Regs, _ int) int {
			faults.Add(1)
			r.AX = address
			return 1
		},
	})
	got := dereference(nil)
	kprobes.UnregisterKprobe(k)
	expect(t, k, 2, 0)
	if got != 4711 || faults.Load() != 1 {
		t.Errorf("got %d after %d faults, want 4711 after 1", got, faults.Load())
	}
	runtime.KeepAlive(value)
}

var (
	sink    any
	zero    int
	nothere *uint64
	channel = make(chan int)
)

// handlersAreAbandoned: what a handler may not do is noticed; the handler ends
// there, its probe is disabled, and the probed function continues as if there had
// been none.
func handlersAreAbandoned(t *suites.T) {
	for _, c := range []struct {
		name string
		f    func()
	}{
		{"nil dereference", func() { *nothere = 1 }},
		{"division by zero", func() { zero = 1 / zero }},
		{"panic", func() { panic("in a handler") }},
		{"blocking", func() { channel <- 1 }},
		{"recursion without end", func() { endless(0) }},
	} {
		for _, inPost := range []bool{false, true} {
			k := &kprobes.Kprobe{SymbolName: pkg + "Leaf"}
			if inPost {
				k.PostHandler = func(*kprobes.Kprobe, *amd64.Regs, uint64) { c.f() }
			} else {
				k.PreHandler = func(*kprobes.Kprobe, *amd64.Regs) int { c.f(); return 0 }
			}
			bystander := on(t, "Leaf", nothing)
			arm(t, k)
			for range 3 {
				if got := targets.Leaf(1, 2); got != 5 {
					t.Errorf("%s: Leaf(1, 2) is %d", c.name, got)
				}
			}
			if n := k.Ledger().Abandoned; n != 1 {
				t.Errorf("%s, post-handler %v: %d handlers abandoned, want 1: %+v", c.name, inPost, n, k.Ledger())
			}
			if err := kprobes.EnableKprobe(k); !errors.Is(err, syscall.EINVAL) {
				t.Errorf("%s: enabling its probe again: %v, want EINVAL", c.name, err)
			}
			kprobes.UnregisterKprobe(k)
			kprobes.UnregisterKprobe(bystander)
			expect(t, bystander, 3, 0)
		}
	}
	clean(t)
}

// abandonedIsDisarmed: nothing asks for the breakpoint of an abandoned handler any more,
// so it goes by itself.
func abandonedIsDisarmed(t *suites.T) {
	k := on(t, "Leaf", func(*amd64.Regs) { *nothere = 1 })
	armed := text.Bytes(k.Addr, 1)[0]
	targets.Leaf(1, 2)
	t.Until("the breakpoint to be taken out", func() bool { return text.Bytes(k.Addr, 1)[0] == k.Opcode() })
	if armed == k.Opcode() || k.Ledger().Abandoned != 1 {
		t.Errorf("it was not armed, or not abandoned: %#x, %+v", armed, k.Ledger())
	}
	kprobes.UnregisterKprobe(k)
	clean(t)
}

//go:noinline
func endless(n int) int {
	if n < 0 {
		return 0
	}
	return endless(n+1) + 1
}
