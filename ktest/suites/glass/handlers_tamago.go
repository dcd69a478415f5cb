//go:build tamago

package glass

import (
	"bytes"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/ktest/suites/targets"
	"sonde/probe/glass"
)

func init() {
	suites.Add("glass/return_probe_by_a_breakpoint", func(t *suites.T) { returnProbe(t, true) })
	suites.Add("glass/return_probe_by_a_jump", func(t *suites.T) { returnProbe(t, false) })
	suites.Add("glass/several_return_probes", severalReturns)
	suites.Add("glass/call_that_does_not_return", parkedCall)
	suites.Add("glass/jprobe", jprobe)
	suites.Add("glass/nested_hit", nestedHit)
	suites.Add("glass/abandoned_handler", abandoned)
	suites.Add("glass/abandoned_post_handler", abandonedPost)
	suites.Add("glass/abandoned_return_handler", abandonedReturn)
	suites.Add("glass/instruction_that_faults", faults)
}

// word is the word at an address. Safe because: the case has it from registers of its own code.
func word(addr uint64) *uint64 { return *(**uint64)(unsafe.Pointer(&addr)) }

func returnProbe(t *suites.T, noJump bool) {
	rp := &kprobes.Kretprobe{KP: kprobes.Kprobe{SymbolName: pkg + "Nine"}, Handler: back}
	t.Must(kprobes.RegisterKretprobe(rp))
	defer kprobes.UnregisterKretprobe(rp)
	s := begin(t, pkg+"Nine", 0, 1, noJump)
	sum := targets.Nine(11, 22, 33, 44, 55, 66, 77, 88, 99)
	stages := []glass.Stage{glass.Jumped, glass.Replaced, glass.ToDetour, glass.Trampoline, glass.Enters, glass.Returned, glass.GoesBack}
	if noJump {
		stages[0] = glass.Trapped // and the detour that was made is used
	}
	frames := s.ended(stages...)
	if frames[3].Regs[ax] != sum || sum != 3135 {
		t.Errorf("AX %d at the trampoline; Nine returns %d", frames[3].Regs[ax], sum)
	}
	if r := &frames[1]; r.Stack[0] != s.trampoline || r.Note[0] != r.Regs[sp] || r.Note[1] != frames[0].Stack[0] {
		t.Errorf("return address %#x, replaced %#x by %#x", frames[0].Stack[0], r.Note[1], r.Stack[0])
	}
	if l := rp.Ledger(); l.Entered != 1 || l.Handled != 1 || l.Unexplained() != 0 || l.InFlight != 0 {
		t.Errorf("%+v", l)
	}
}

// severalReturns: two return probes, the second one's handler is called first; and a kprobe between.
func severalReturns(t *suites.T) {
	order, calls := [4]int{}, 0 // no slice: a handler that stores a pointer while garbage is collected is abandoned
	note := func(n int) kprobes.KretprobeHandler {
		return func(*kprobes.KretprobeInstance, *amd64.Regs) int { order[calls%len(order)] = n; calls++; return 0 }
	}
	a := &kprobes.Kretprobe{KP: kprobes.Kprobe{SymbolName: pkg + "Nine"}, Handler: note(1)}
	b := &kprobes.Kretprobe{KP: kprobes.Kprobe{SymbolName: pkg + "Nine"}, Handler: note(2), EntryHandler: back}
	t.Must(kprobes.RegisterKretprobes([]*kprobes.Kretprobe{a, b}))
	defer kprobes.UnregisterKretprobes([]*kprobes.Kretprobe{a, b})
	s := begin(t, pkg+"Nine", 0, 1, true)
	targets.Nine(11, 22, 33, 44, 55, 66, 77, 88, 99)
	frames := s.ended(glass.Trapped, glass.Replaced, glass.Enters, glass.Returned, glass.Replaced, glass.ToDetour,
		glass.Trampoline, glass.Enters, glass.Returned, glass.Enters, glass.Returned, glass.GoesBack)
	if frames[4].Note[1] != s.trampoline {
		t.Errorf("the second probe has replaced %#x", frames[4].Note[1])
	}
	if calls != 2 || order[0] != 2 {
		t.Errorf("%d handlers called in order %v", calls, order)
	}
}

// parkedCall: the camera is taken away while the recorded call runs, which then returns.
func parkedCall(t *suites.T) {
	rp := &kprobes.Kretprobe{KP: kprobes.Kprobe{SymbolName: pkg + "Generic[go.shape.uint64]"}, Handler: back}
	t.Must(kprobes.RegisterKretprobe(rp))
	defer kprobes.UnregisterKretprobe(rp)
	s := begin(t, pkg+"Generic[go.shape.uint64]", 0, 1, true)
	inside, leave, done := make(chan bool), make(chan bool), make(chan uint64)
	go func() {
		done <- targets.Generic([]uint64{42}, func(a uint64) uint64 { inside <- true; <-leave; return a + 1 })
	}()
	<-inside
	if s.film.Done() {
		t.Errorf("the hit is over")
	}
	before := len(afterGrowth(s.end()))
	leave <- true
	if got := <-done; got != 43 {
		t.Errorf("Generic returns %d", got)
	}
	if frames, _ := s.film.Recorded(); len(afterGrowth(frames)) != before || before != 3 {
		t.Errorf("%d frames, then %d", before, len(afterGrowth(frames)))
	}
}

func jprobe(t *suites.T) {
	called := 0
	j := kprobes.NewJprobe(targets.Leaf, func(a, b uint64) uint64 { called = int(a); kprobes.JprobeReturn(); return 0 })
	t.Must(kprobes.RegisterJprobe(j))
	defer kprobes.UnregisterJprobe(j)
	s := begin(t, pkg+"Leaf", 0, 1, false)
	if got := targets.Leaf(3, 4); got != 13 || called != 3 {
		t.Errorf("Leaf returns %d, the handler saw %d", got, called)
	}
	if frames := s.ended(glass.Trapped, glass.Copied, glass.Ended, glass.ToSlot); frames[2].Note[0] != 1 || frames[1].Handler == 0 {
		t.Errorf("%+v", frames[2])
	}
}

// nestedHit: a probe in what a handler calls; it shows where it happens in the outer hit.
func nestedHit(t *suites.T) {
	inner := &kprobes.Kprobe{SymbolName: pkg + "Nine", PreHandler: pre}
	outer := &kprobes.Kprobe{SymbolName: pkg + "Leaf", PreHandler: func(*kprobes.Kprobe, *amd64.Regs) int {
		targets.Nine(1, 2, 3, 4, 5, 6, 7, 8, 9)
		return 0
	}}
	with(t, inner, func() {
		with(t, outer, func() {
			s := begin(t, pkg+"Leaf", 0, 1, true)
			targets.Leaf(3, 4)
			frames := s.ended(glass.Trapped, glass.Enters, glass.Nested, glass.Returned, glass.ToDetour)
			if f := &frames[2]; uintptr(f.Note[0]) != inner.Addr || f.Probe != outer.Addr || f.Has != 0 {
				t.Errorf("%+v", f)
			}
			if inner.NMissed() != 1 {
				t.Errorf("%d missed", inner.NMissed())
			}
		})
	})
}

var nilWord *uint64

func faulty(*kprobes.Kprobe, *amd64.Regs) int { return int(*nilWord) }

// abandoned: the other handlers and the instruction follow, and are recorded.
func abandoned(t *suites.T) {
	for _, noJump := range []bool{true, false} {
		with(t, &kprobes.Kprobe{SymbolName: pkg + "Nine", PreHandler: faulty}, func() {
			with(t, &kprobes.Kprobe{SymbolName: pkg + "Nine", PreHandler: pre}, func() {
				s := begin(t, pkg+"Nine", 0, 1, noJump)
				targets.Nine(11, 22, 33, 44, 55, 66, 77, 88, 99)
				stages := []glass.Stage{glass.Jumped, glass.Enters, glass.Abandoned, glass.Enters, glass.Returned, glass.ToDetour}
				if noJump {
					stages[0] = glass.Trapped
				}
				if frames := s.ended(stages...); !bytes.Contains(frames[2].Why[:], []byte("#PF")) {
					t.Errorf("why: %q", frames[2].Why)
				}
			})
		})
	}
}

func abandonedPost(t *suites.T) {
	bad := func(*kprobes.Kprobe, *amd64.Regs, uint64) { sink = *nilWord }
	with(t, &kprobes.Kprobe{SymbolName: pkg + "Leaf", PostHandler: bad}, func() {
		with(t, &kprobes.Kprobe{SymbolName: pkg + "Leaf", PostHandler: post}, func() {
			s := begin(t, pkg+"Leaf", 0, 1, false)
			targets.Leaf(3, 4)
			s.ended(glass.Trapped, glass.ToStep, glass.Stepped, glass.PutBack, glass.Enters, glass.Abandoned, glass.Enters, glass.Returned)
		})
	})
}

var sink uint64

func abandonedReturn(t *suites.T) {
	bad := func(*kprobes.KretprobeInstance, *amd64.Regs) int { return int(*nilWord) }
	rp := &kprobes.Kretprobe{KP: kprobes.Kprobe{SymbolName: pkg + "Leaf"}, Handler: bad}
	t.Must(kprobes.RegisterKretprobe(rp))
	defer kprobes.UnregisterKretprobe(rp)
	s := begin(t, pkg+"Leaf", 0, 1, true)
	if got := targets.Leaf(3, 4); got != 13 {
		t.Errorf("Leaf returns %d", got)
	}
	s.ended(glass.Trapped, glass.Replaced, glass.ToDetour, glass.Trampoline, glass.Enters, glass.Abandoned, glass.GoesBack)
}

//go:noinline
func load(p *uint64) uint64 { return *p }

// faults: the hit ends with the exception that the instruction raises in its slot.
func faults(t *suites.T) {
	with(t, &kprobes.Kprobe{SymbolName: "sonde/ktest/suites/glass.load", PostHandler: post}, func() {
		s := begin(t, "sonde/ktest/suites/glass.load", 0, 1, false)
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("no panic")
				}
			}()
			sink = load(nilWord)
		}()
		if frames := s.ended(glass.Trapped, glass.ToStep, glass.Faulted); frames[2].Note[0] != amd64.VEC_PF || frames[2].Regs[ip] != uint64(s.d.Slot) {
			t.Errorf("exception %d at %#x", frames[2].Note[0], frames[2].Regs[ip])
		}
	})
}
