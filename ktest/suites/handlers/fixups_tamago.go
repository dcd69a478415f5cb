//go:build tamago

package handlers

import (
	"reflect"
	"strings"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/insn"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/optprobe"
)

//go:noinline
func nothingToDo() {}

// ways are how an instruction that faults may be executed. Each is a function with an argument in
// AX, one of whose instructions uses it as a pointer.
var ways = []struct {
	name, sym  string
	post, jump bool
	call       func(p *uint64)
}{
	{"stepped", "storeThrough.abi0", true, false, storeThrough},
	{"run as a copy", "storeThrough.abi0", false, false, storeThrough},
	{"run in the detour", "storeThrough.abi0", false, true, storeThrough},
	{"an emulated call", "callThrough.abi0", false, false, callThrough},
	{"an emulated call, with a post-handler", "callThrough.abi0", true, false, callThrough},
	{"an emulated jump", "jumpThrough.abi0", false, false, jumpThrough},
}

// target is what corrected pointers point to: a place to store to, or a function's
// address.
var target uint64

// through returns the address of the instruction of a function that uses AX as a pointer: a branch
// if there is one, else the second.
func through(t *suites.T, sym string) uintptr {
	addr, code := find(t, sym)
	at := second(t, sym)
	insn.Walk(code, func(off int, in insn.Inst) bool {
		if in.Flow == insn.CallInd || in.Flow == insn.JmpInd {
			at = addr + uintptr(off)
		}
		return true
	})
	return at
}

// faulting registers a probe with fault-handler f on the instruction that faults. Without jump it
// becomes none, however long the caller takes: the caller restores the optimizer.
func faulting(t *suites.T, sym string, post, jump bool, f kprobes.FaultHandler) *kprobes.Kprobe {
	k := &kprobes.Kprobe{Addr: through(t, sym), FaultHandler: f,
		PreHandler: func(*kprobes.Kprobe, *amd64.Regs) int { return 0 }}
	if post {
		k.PostHandler = func(*kprobes.Kprobe, *amd64.Regs, uint64) {}
	}
	t.Must(optprobe.Optimization.Store(jump))
	t.Must(kprobes.RegisterKprobe(k))
	if jump {
		t.Must(optprobe.Optimize())
	}
	return k
}

// asksHowever uses a fault-handler that first declines the fault of the instruction, and
// then fixes it. It used to be asked only when the instruction was single-stepped.
func asksHowever(t *suites.T) {
	const calls = 10
	defer optprobe.Optimization.Store(optprobe.Optimization.Get())
	for _, w := range ways {
		fixing, asked, vector := false, 0, 0
		k := faulting(t, w.sym, w.post, w.jump, func(_ *kprobes.Kprobe, r *amd64.Regs, trapnr int) int {
			asked++
			vector = trapnr
			if !fixing {
				return 0
			}
			r.AX = uint64(uintptr(unsafe.Pointer(&target)))
			return 1
		})
		if w.jump != kprobes.Optimized(k.Addr) {
			t.Errorf("%s: optimized: %v", w.name, !w.jump)
		}
		target = uint64(reflect.ValueOf(nothingToDo).Pointer())
		for range calls {
			if report := suites.Crash(func() { w.call(nil) }); !strings.Contains(report, "nil pointer dereference") {
				t.Errorf("%s: not the code's own panic:\n%s", w.name, report)
			}
		}
		suites.Equal(t, w.name+": asked, and declined", uint64(asked), calls)
		fixing = true
		for range calls {
			target = uint64(reflect.ValueOf(nothingToDo).Pointer())
			w.call(nil)
		}
		kprobes.UnregisterKprobe(k)
		suites.Equal(t, w.name+": asked in all", uint64(asked), 2*calls)
		suites.Equal(t, w.name+": vector", uint64(vector), amd64.VEC_PF)
		suites.Equal(t, w.name+": hits", k.Hits(), 3*calls)
		if l := k.Ledger(); l.Unexplained() != 0 || l.Abandoned != 0 {
			t.Errorf("%s: account %+v", w.name, l)
		}
	}
}

// abandonsFault makes the fault-handler break the rules: it is abandoned, and the fault
// is the code's own.
func abandonsFault(t *suites.T) {
	defer optprobe.Optimization.Store(optprobe.Optimization.Get())
	for _, w := range ways {
		since := suites.Mark()
		k := faulting(t, w.sym, w.post, w.jump, func(*kprobes.Kprobe, *amd64.Regs, int) int {
			panic("a fault-handler's")
		})
		for range 3 {
			if report := suites.Crash(func() { w.call(nil) }); !strings.Contains(report, "nil pointer dereference") {
				t.Errorf("%s: not the code's own panic:\n%s", w.name, report)
			}
		}
		kprobes.UnregisterKprobe(k)
		if n := suites.Logged(since, "abandoned: panic"); n != 1 {
			t.Errorf("%s: %d reports", w.name, n)
		}
		if l := k.Ledger(); l.Abandoned != 1 || l.Unexplained() != 0 {
			t.Errorf("%s: account %+v", w.name, l)
		}
	}
	isWell(t, "afterwards")
}
