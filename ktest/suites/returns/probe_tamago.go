//go:build tamago

package returns

import (
	"reflect"
	"runtime"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/kernel/cpu"
	"sonde/kprobes"
	"sonde/ktest/suites"
)

// entry returns the address of a function's code.
func entry(f any) uintptr { return reflect.ValueOf(f).Pointer() }

// on returns a return probe on function f, not registered yet.
func on(f any, handler kprobes.KretprobeHandler) *kprobes.Kretprobe {
	return &kprobes.Kretprobe{KP: kprobes.Kprobe{Addr: entry(f)}, Handler: handler, MaxActive: 64}
}

// nothing is a handler for probes that only count.
func nothing(*kprobes.KretprobeInstance, *amd64.Regs) int { return 0 }

// register registers rps, in order, and returns how to take them away again:
// that must leave no call behind and no hit unexplained.
func register(t *suites.T, rps ...*kprobes.Kretprobe) (remove func()) {
	for _, rp := range rps {
		t.Must(kprobes.RegisterKretprobe(rp))
	}
	return func() {
		kprobes.UnregisterKretprobes(rps)
		for _, rp := range rps {
			t.Until("the last probed call", func() bool { return rp.Ledger().InFlight == 0 })
			balanced(t, rp)
		}
	}
}

// balanced is the equation that every account must satisfy.
func balanced(t *suites.T, rp *kprobes.Kretprobe) {
	l := rp.Ledger()
	if l.Entered != l.Handled+l.Declined+l.Missed() || l.InFlight != 0 || l.Unexplained() != 0 {
		t.Errorf("account %+v does not balance, unexplained %d", l, l.Unexplained())
	}
}

// migrate returns on another CPU than it was called on, if there is one and it
// is willing; it gives up after a few hundred tries.
func migrate() {
	from := cpu.ID()
	for try := 0; try < 300 && cpu.ID() == from; try++ {
		runtime.Gosched()
	}
}

// peek reads a word of the interrupted code's stack.
func peek(addr uint64) uint64 {
	p := uintptr(addr)
	return **(**uint64)(unsafe.Pointer(&p)) // Safe because: the caller knows the address
}
