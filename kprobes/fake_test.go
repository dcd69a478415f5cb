package kprobes

import (
	"bytes"
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"sonde/arch/amd64/goabi"
	"sonde/arch/amd64/insn"
	"sonde/kallsyms"
	"sonde/kernel/refusal"
	"sonde/kernel/text"
	"sonde/kprobes/detour"
	"sonde/kprobes/machine"
	"sonde/kprobes/place"
)

// A fake is a machine that is memory and a log. It checks what it is asked to do,
// and, when its test ends, that everything is as it was in the beginning.
type fake struct {
	watched uintptr // executed, by a debug register
	t       *testing.T
	image   []byte // the code without probes
	text    []byte // the code now
	wrote   map[uintptr][]byte
	log     []string // what was called, in order

	graces []*gracePeriod
	stands []uintptr // where CPUs go on when the machine is stopped
	late   int       // so many stops of the machine time out
	inTrap bool      // the caller is a handler
	sse    any       // the handler that may change X0-X14
	later  bool      // a change is completed, without mu
	asked  int       // how often all CPUs were, less the calls of Drain, for each of which they must have been
	waits  int       // how often all CPUs were asked
	during map[string]func()
}

// gracePeriod ends when the test says so.
type gracePeriod struct{ over bool }

func (g *gracePeriod) Passed() bool { return g.over }

// newFake makes a fake the machine until the test ends.
func newFake(t *testing.T) *fake {
	t.Helper()
	code, syms := assemble(t)
	f := &fake{t: t, image: code, text: bytes.Clone(code), wrote: map[uintptr][]byte{}, during: map[string]func(){}}
	realMach, realKernel := machine.This, kallsyms.Kernel()
	machine.This = f.machine()
	kallsyms.SetKernel(fakeKernel(t, syms))
	t.Cleanup(func() {
		f.nothingLeft()
		forgetAll()
		machine.This = realMach
		kallsyms.SetKernel(realKernel)
	})
	return f
}

func (f *fake) machine() machine.Machine {
	return machine.Machine{
		Code: f.code, Poke: f.poke, Swap: f.swap, Write: f.write,
		Refresh:   func(poked []uintptr) { f.note(fmt.Sprintf("sync %d", len(poked))) },
		Serialize: func() { f.asked++; f.waits++ },
		Drain:     f.drain,
		Grace:     func() { f.note("grace") },
		Watch:     func() { f.note("watch") },
		Since: func() text.InUse {
			g := &gracePeriod{}
			f.graces = append(f.graces, g)
			return g
		},
		Watched:     func(addr uintptr) bool { return addr == f.watched },
		InHandler:   f.inHandler,
		Forbid:      f.forbid,
		CPUs:        4,
		Memory:      64 << 20,
		Blacklisted: says("t.trap", "it handles traps"),
		NoReturn:    says("t.stays", "does not return to its caller"),
		Advise:      func(string, string, uintptr) {},
		Careful:     func(h any) bool { return f.sse != nil && goabi.CodeOf(h) == goabi.CodeOf(f.sse) },
		Slots:       text.NewPool(fakeSlots, fakeSlots+16*machine.SlotSize, machine.SlotSize),
		Detours:     text.NewPool(fakeDetours, fakeDetours+4*detour.Size, detour.Size),
	}
}

func (f *fake) drain() {
	if f.asked--; f.asked < 0 {
		f.t.Error("handlers of breakpoints are not waited for")
	}
	f.note("quiesce")
}

// says returns a verdict on one function.
func says(name, why string) func(kallsyms.Symbol) string {
	return func(fn kallsyms.Symbol) string {
		if fn.Name == name {
			return why
		}
		return ""
	}
}

// note logs a call, and does what the test wants to happen during it.
func (f *fake) note(what string) {
	f.log = append(f.log, what)
	if !f.later && mu.TryLock() {
		mu.Unlock()
		f.t.Errorf("%s without mu", what)
	}
	if do := f.during[what]; do != nil {
		do()
	}
}

func (f *fake) code(addr, n uintptr) []byte {
	if n == 0 || addr < fakeText || addr-fakeText+n > uintptr(len(f.text)) {
		return nil
	}
	return f.text[addr-fakeText:][:n:n]
}

// poke is how breakpoints come and go. What a hit needs must be there first.
func (f *fake) poke(addr uintptr, old, new byte) error {
	b := f.code(addr, 1)
	if b == nil {
		return refusal.New(syscall.EFAULT, "%#x is not code", addr)
	}
	if b[0] != old || old == new || old != insn.OpInt3 && new != insn.OpInt3 {
		return refusal.New(syscall.EILSEQ, "%s: %#x is there, %#x to be replaced by %#x", kallsyms.Where(uint64(addr)), b[0], old, new)
	}
	pt := points.Find(addr)
	switch {
	case pt == nil:
		f.t.Errorf("%s is written, but is not in the table", kallsyms.Where(uint64(addr)))
	case new == insn.OpInt3 && (len(pt.probes()) == 0 || place.Way(pt.way.Load()) == place.Refused):
		f.t.Errorf("%s is armed, but a hit would not know what to do", kallsyms.Where(uint64(addr)))
	case new == insn.OpInt3 && pt.NeedsSlot() && f.wrote[pt.Slot] == nil:
		f.t.Errorf("%s is armed, but its slot is empty", kallsyms.Where(uint64(addr)))
	}
	b[0] = new
	f.note(map[bool]string{true: "arm ", false: "disarm "}[new == insn.OpInt3] + kallsyms.Where(uint64(addr)))
	return nil
}

// swap is how jumps come and go.
func (f *fake) swap(patches []text.Patch, standing func(uintptr) bool) (time.Duration, error) {
	f.note(fmt.Sprintf("swap %d", len(patches)))
	if f.late > 0 {
		f.late--
		return 0, refusal.New(syscall.ETIMEDOUT, "smp: stop machine: after 1s, CPU 1 does not take NMIs either")
	}
	if slices.ContainsFunc(f.stands, standing) {
		return 0, ErrRetry
	}
	for _, p := range patches {
		if len(p.Old) != len(p.New) || !bytes.Equal(f.code(p.Addr, uintptr(len(p.Old))), p.Old) {
			return 0, refusal.New(syscall.EILSEQ, "%s: % x is not there", kallsyms.Where(uint64(p.Addr)), p.Old)
		}
	}
	for _, p := range patches {
		copy(f.code(p.Addr, uintptr(len(p.New))), p.New)
	}
	return time.Microsecond, nil
}

// write fills a slot, or says in a detour whose it is. Both must have been taken for
// something.
func (f *fake) write(addr uintptr, code []byte) {
	if machine.This.Detours.Contains(addr) {
		if _, owner := machine.This.Detours.Find(addr); points.Find(owner) != siteIn(code) {
			f.t.Errorf("the detour of %s is told of another point", kallsyms.Where(uint64(owner)))
		}
		f.note("bind")
		return
	}
	if piece, owner := machine.This.Slots.Find(addr); piece != addr || owner == 0 || len(code) > machine.SlotSize {
		f.t.Errorf("%d bytes written to %#x, which is no slot", len(code), addr)
	}
	f.wrote[addr] = bytes.Clone(code)
	f.note("write")
}

// siteIn returns the point whose address b is.
func siteIn(b []byte) *point { return *(**point)(unsafe.Pointer(&b[0])) }

// forbidden is what forbid panics with, since it may not return.
type forbidden string

func (f *fake) forbid(what string) {
	if f.inHandler() {
		panic(forbidden(what))
	}
}

func (f *fake) inHandler() bool {
	if !f.inTrap {
		return false
	}
	if !mu.TryLock() {
		f.t.Fatal("mu is taken before it is known that this is a handler, which may have interrupted its holder")
	}
	mu.Unlock()
	return true
}

// graceEnds lets all grace periods end that have begun.
func (f *fake) graceEnds() {
	for _, g := range f.graces {
		g.over = true
	}
}

// nothingLeft fails if probes, pieces or changes of the code are left.
func (f *fake) nothingLeft() {
	f.t.Helper()
	if !mu.TryLock() {
		f.t.Fatal("mu is held")
	}
	defer mu.Unlock()
	if !bytes.Equal(f.text, f.image) {
		f.t.Error("the code is not as it was")
	}
	if n := points.Len() + machine.This.Slots.Used() + machine.This.Detours.Used() + detours + len(lingering) + len(replaced); n != 0 {
		f.t.Errorf("left: %d points, %d slots, %d detours (%d counted), %d return probes, %d lists",
			points.Len(), machine.This.Slots.Used(), machine.This.Detours.Used(), detours, len(lingering), len(replaced))
	}
}

// forgetAll makes this package as it is at boot.
func forgetAll() {
	for _, pt := range allPoints() {
		points.Remove(pt.Addr)
	}
	lingering, replaced, optimizer = nil, nil, nil
	disarmedAll, noJumps, detours = false, false, 0
	decoder = place.Decoder{Code: original}
}
