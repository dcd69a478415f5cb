//go:build tamago

package handlers

import (
	"strings"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/insn"
	"sonde/kernel/text"
	"sonde/kprobes"
	"sonde/ktest/suites"
)

func init() {
	suites.Add("handlers/fault_of_the_probed_code_is_its_own", ownFault)
	suites.Add("handlers/fault_handler_fixes_a_pre_handler", fixesPre)
	suites.Add("handlers/fault_handler_fixes_a_post_handler", fixesPost)
	suites.Add("handlers/fault_handler_fixes_the_stepped_copy", fixesCopy)
	suites.Add("handlers/fault_handler_that_declines", declinesFault)
	suites.Add("handlers/fault_handler_is_asked_however_it_is_executed", asksHowever)
	suites.Add("handlers/fault_handler_of_an_instruction_is_abandoned", abandonsFault)
}

func loadThrough(p *uint64) uint64
func storeThrough(p *uint64)
func callThrough(p *uint64)
func jumpThrough(p *uint64)

//go:noinline
func dereference(p *[4]uint64) uint64 {
	return p[3]*2 + 1
}

// A culprit faults somewhere in function sym.
type culprit struct {
	sym  string
	call func()
}

var culprits = []culprit{
	{"dereference", func() { dereference(nil) }},
	{"loadThrough.abi0", func() { loadThrough(nil) }},
	{"storeThrough.abi0", func() { storeThrough(nil) }},
	{"callThrough.abi0", func() { callThrough(nil) }},
	{"jumpThrough.abi0", func() { jumpThrough(nil) }},
}

// find returns the code of a function of this package.
func find(t *suites.T, sym string) (addr uintptr, code []byte) {
	s := t.Function("sonde/ktest/suites/handlers." + sym)
	return uintptr(s.Addr), text.Bytes(uintptr(s.Addr), uintptr(s.Size))
}

// ownFault probes each instruction of functions that fault: with a post-handler
// they are stepped, without boosted, and branches emulated. The panic is the
// same as without a probe.
func ownFault(t *suites.T) {
	for _, c := range culprits {
		want := suites.Crash(c.call)
		if name, _, _ := strings.Cut(c.sym, "."); !strings.Contains(want, "handlers."+name+":") {
			t.Fatalf("%s without probe:\n%s", c.sym, want)
		}
		addr, code := find(t, c.sym)
		insn.Walk(append([]byte(nil), code...), func(off int, in insn.Inst) bool {
			for _, post := range []bool{false, true} {
				faultAt(t, c, addr+uintptr(off), post, want)
			}
			return true
		})
	}
}

func faultAt(t *suites.T, c culprit, addr uintptr, post bool, want string) {
	hits := 0
	k := &kprobes.Kprobe{Addr: addr, PreHandler: func(*kprobes.Kprobe, *amd64.Regs) int { hits++; return 0 }}
	if post {
		k.PostHandler = func(*kprobes.Kprobe, *amd64.Regs, uint64) {}
	}
	if err := kprobes.RegisterKprobe(k); err != nil {
		return // not every instruction can be probed, or stepped
	}
	defer kprobes.UnregisterKprobe(k)
	for range 3 {
		if have := suites.Crash(c.call); have != want {
			t.Errorf("probe at %s+%#x, post-handler %v:\n%swant\n%s", c.sym, addr, post, have, want)
		}
	}
	l := k.Ledger()
	if l.Handled != uint64(hits) || l.Unexplained() != 0 || l.Abandoned != 0 {
		t.Errorf("probe at %s+%#x, post-handler %v: account %+v", c.sym, addr, post, l)
	}
}

// word is what pointers point to when they have been corrected.
var word uint64 = 4711

// fixer returns a fault-handler that makes the faulting code use word.
func fixer(calls, trap *int) kprobes.FaultHandler {
	return func(_ *kprobes.Kprobe, r *amd64.Regs, trapnr int) int {
		*calls++
		*trap = trapnr
		r.AX = uint64(uintptr(unsafe.Pointer(&word)))
		return 1
	}
}

func fixesPre(t *suites.T) {
	var calls, trap int
	var got uint64
	fixesUp(t, &kprobes.Kprobe{
		PreHandler:   func(*kprobes.Kprobe, *amd64.Regs) int { got += loadThrough(nil); return 0 },
		FaultHandler: fixer(&calls, &trap)}, &calls, &trap, &got)
}

func fixesPost(t *suites.T) {
	var calls, trap int
	var got uint64
	fixesUp(t, &kprobes.Kprobe{
		PostHandler:  func(*kprobes.Kprobe, *amd64.Regs, uint64) { got += loadThrough(nil) },
		FaultHandler: fixer(&calls, &trap)}, &calls, &trap, &got)
}

// fixesUp makes a handler of k fault in each hit, and continue.
func fixesUp(t *suites.T, k *kprobes.Kprobe, calls, trap *int, got *uint64) {
	const hits = 10
	k.Addr = entry(victim)
	t.Must(kprobes.RegisterKprobe(k))
	for range hits {
		suites.Equal(t, "victim", victim(2), 9)
	}
	isWell(t, "after the fix")
	kprobes.UnregisterKprobe(k)
	suites.Equal(t, "fault-handler calls", uint64(*calls), hits)
	suites.Equal(t, "vector", uint64(*trap), amd64.VEC_PF)
	suites.Equal(t, "what the handler read", *got, hits*word)
	if l := k.Ledger(); l.Handled != hits || l.Abandoned != 0 || l.Unexplained() != 0 {
		t.Errorf("account %+v", l)
	}
}

// second returns the address of the second instruction of a function, the one
// that faults.
func second(t *suites.T, sym string) uintptr {
	addr, code := find(t, sym)
	in, err := insn.Decode(code)
	t.Must(err)
	return addr + uintptr(in.Len)
}

// fixesCopy corrects a load through nil that is single-stepped, and so executed again: another hit.
func fixesCopy(t *suites.T) {
	const hits = 10
	var calls, trap, post int
	k := &kprobes.Kprobe{Addr: second(t, "loadThrough.abi0"), FaultHandler: fixer(&calls, &trap),
		PostHandler: func(*kprobes.Kprobe, *amd64.Regs, uint64) { post++ }}
	t.Must(kprobes.RegisterKprobe(k))
	for range hits {
		suites.Equal(t, "what was read", loadThrough(nil), word)
	}
	kprobes.UnregisterKprobe(k)
	suites.Equal(t, "fault-handler calls", uint64(calls), hits)
	suites.Equal(t, "vector", uint64(trap), amd64.VEC_PF)
	suites.Equal(t, "post-handler calls", uint64(post), hits)
	if l := k.Ledger(); l.Unexplained() != 0 || l.Abandoned != 0 {
		t.Errorf("account %+v", l)
	}
}

// declinesFault uses a fault-handler that looks, and does nothing.
func declinesFault(t *suites.T) {
	var calls, post int
	k := &kprobes.Kprobe{Addr: second(t, "loadThrough.abi0"),
		PostHandler:  func(*kprobes.Kprobe, *amd64.Regs, uint64) { post++ },
		FaultHandler: func(*kprobes.Kprobe, *amd64.Regs, int) int { calls++; return 0 }}
	t.Must(kprobes.RegisterKprobe(k))
	for range 10 {
		if report := suites.Crash(func() { loadThrough(nil) }); !strings.Contains(report, "nil pointer dereference") {
			t.Errorf("not the code's own panic:\n%s", report)
		}
	}
	suites.Equal(t, "what was read", loadThrough(&word), word)
	kprobes.UnregisterKprobe(k)
	suites.Equal(t, "fault-handler calls", uint64(calls), 10)
	suites.Equal(t, "post-handler calls", uint64(post), 1)
}
