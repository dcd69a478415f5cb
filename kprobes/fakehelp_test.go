package kprobes

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"

	"sonde/arch/amd64"
	"sonde/kallsyms"
	"sonde/kprobes/machine"
)

// Handlers that hits would call.
func pre(*Kprobe, *amd64.Regs) int             { return 0 }
func post(*Kprobe, *amd64.Regs, uint64)        {}
func ends(*KretprobeInstance, *amd64.Regs) int { return 0 }

// at returns a probe with a pre-handler.
func at(symbol string, off uintptr) *Kprobe {
	return &Kprobe{SymbolName: symbol, Offset: off, PreHandler: pre}
}

// returns returns a return probe.
func returns(symbol string) *Kretprobe {
	return &Kretprobe{KP: Kprobe{SymbolName: symbol}, Handler: ends}
}

// jumps returns a jprobe on a function without arguments.
func jumps(symbol string) *Jprobe {
	return &Jprobe{KP: Kprobe{SymbolName: symbol}, Entry: func() {}}
}

// must registers ks, and has them unregistered at the end.
func (f *fake) must(ks ...*Kprobe) {
	f.t.Helper()
	if err := RegisterKprobes(ks); err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { UnregisterKprobes(ks) })
}

// mustReturn and mustJprobe are must for the other kinds.
func (f *fake) mustReturn(rps ...*Kretprobe) {
	f.t.Helper()
	if err := RegisterKretprobes(rps); err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { UnregisterKretprobes(rps) })
}

func (f *fake) mustJprobe(j *Jprobe) {
	f.t.Helper()
	if err := RegisterJprobe(j); err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { UnregisterJprobe(j) })
}

// refused checks that err is errno and says why, and that nothing has changed since
// before.
func (f *fake) refused(before state0, err error, errno syscall.Errno, why string) {
	f.t.Helper()
	if !errors.Is(err, errno) || !strings.Contains(err.Error(), why) {
		f.t.Errorf("%v, want %v (%v) and %q", err, errno, errno.Error(), why)
	}
	f.unchanged(before)
}

// state0 is what a refused request leaves alone.
type state0 struct {
	text          []byte
	points, slots int
	arms          int
}

func (f *fake) now() state0 {
	arms := 0
	for _, l := range f.log {
		if strings.HasPrefix(l, "arm ") {
			arms++
		}
	}
	return state0{bytes.Clone(f.text), points.Len(), machine.This.Slots.Used(), arms}
}

func (f *fake) unchanged(before state0) {
	f.t.Helper()
	after := f.now()
	if !bytes.Equal(after.text, before.text) || after.points != before.points || after.slots != before.slots || after.arms != before.arms {
		f.t.Errorf("something has changed: points %d to %d, slots %d to %d, armed %d to %d",
			before.points, after.points, before.slots, after.slots, before.arms, after.arms)
	}
	if !mu.TryLock() {
		f.t.Fatal("mu is held")
	}
	mu.Unlock()
}

// addr returns the address of a place of the fake code.
func addrOf(t *testing.T, symbol string, off uintptr) uintptr {
	t.Helper()
	fn, err := kallsyms.Resolve(symbol)
	if err != nil {
		t.Fatal(err)
	}
	return uintptr(fn.Addr) + off
}

// pointAt returns the point of a place, which must be probed.
func (f *fake) pointAt(symbol string, off uintptr) *point {
	f.t.Helper()
	pt := points.Find(addrOf(f.t, symbol, off))
	if pt == nil {
		f.t.Fatalf("%s+%#x is not probed", symbol, off)
	}
	return pt
}

// byteAt returns the code's byte there.
func (f *fake) byteAt(symbol string, off uintptr) byte {
	f.t.Helper()
	return f.code(addrOf(f.t, symbol, off), 1)[0]
}

// did checks what has been called since from, and returns the log's length.
func (f *fake) did(from int, want ...string) int {
	f.t.Helper()
	if got := f.log[from:]; !slices.Equal(got, want) {
		f.t.Errorf("called %q, want %q", got, want)
	}
	return len(f.log)
}
