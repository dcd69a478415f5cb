package uprobes

import (
	"testing"

	"sonde/arch/amd64"
	"sonde/arch/amd64/insn"
	"sonde/kernel/abi"
	"sonde/linux/proc"
	"sonde/probe/ledger"
	"sonde/uprobes/place"
)

// TestTailCall: a function ends with a jump to another one, and both have return probes. The
// two calls have one return address; it is what both handlers see, and where the program goes
// on, be it in the handlers or behind them.
func TestTailCall(t *testing.T) {
	d := new(diary)
	tell := func(name string) func(*UretprobeInstance, *amd64.Regs) {
		return func(ri *UretprobeInstance, r *amd64.Regs) { d.add("%s %#x %#x", name, ri.RetAddr, r.IP) }
	}
	outer, inner := &Uretprobe{Handler: tell("outer")}, &Uretprobe{Handler: tell("inner")}
	play(t, func(p *proc.Process) {
		outer.U.Pid, outer.U.Vaddr = p.PID, textAt
		inner.U.Pid, inner.U.Vaddr = p.PID, textAt+8
		must(t, registerReturn(outer))
		must(t, registerReturn(inner))
	}, func(p *player) {
		enter(p, stack, textAt+5)
		p.Breakpoint(textAt+8, stack)
		if to := leave(p, stack); to != textAt+5 {
			t.Errorf("it returns to %#x", to)
		}
	})
	d.wants(t, "inner 0x700005 0x700005", "outer 0x700005 0x700005")
	for _, rp := range []*Uretprobe{outer, inner} {
		if l := rp.U.Ledger(); l != (ledger.Ledger{Entered: 1, Handled: 1}) {
			t.Errorf("%+v", l)
		}
	}
}

// TestCallsOfAThreadThatEnds: they do not return.
func TestCallsOfAThreadThatEnds(t *testing.T) {
	const clone, exit = 56, 60
	const thread = abi.CLONE_VM | abi.CLONE_SIGHAND | abi.CLONE_THREAD
	rp, s := playReturns(t, func(*UretprobeInstance, *amd64.Regs) { t.Error("it has not returned") }, func(p *player) {
		ends := make(chan bool)
		p.Fork(func(c *player) {
			enter(c, stack-0x4000, textAt+1)
			close(ends)
			c.Call(exit, 0)
		}, clone, thread, stack-0x4000)
		<-ends
		enter(p, stack, textAt+2)
	})
	if l := rp.U.Ledger(); s != 0 || l != (ledger.Ledger{Entered: 2, Abandoned: 2}) {
		t.Errorf("status %#x, %+v", s, l)
	}
}

// TestLongjmp: it goes past calls to one that returns then.
func TestLongjmp(t *testing.T) {
	rp := &Uretprobe{Handler: func(*UretprobeInstance, *amd64.Regs) {}}
	play(t, func(p *proc.Process) {
		rp.U.Pid, rp.U.Vaddr = p.PID, textAt
		must(t, registerReturn(rp))
	}, func(p *player) {
		enter(p, stack, textAt+1)
		enter(p, stack-0x20, textAt+2)
		leave(p, stack)
		if l := rp.U.Ledger(); l != (ledger.Ledger{Entered: 2, Handled: 1, Abandoned: 1}) {
			t.Errorf("%+v", l)
		}
	})
}

// TestStacksThatAreGone: calls on stacks that nobody uses any more are found by their slots,
// which hold something else.
func TestStacksThatAreGone(t *testing.T) {
	rp := &Uretprobe{Handler: func(*UretprobeInstance, *amd64.Regs) {}}
	play(t, func(p *proc.Process) {
		rp.U.Pid, rp.U.Vaddr = p.PID, textAt
		must(t, registerReturn(rp))
	}, func(p *player) {
		for i := range uint64(manyCalls) {
			enter(p, stack-0x20*i, textAt+1)
			p.Poke64(stack-0x20*i, 0)
		}
		enter(p, stack-0x1000, textAt+1)
		if l := rp.U.Ledger(); l != (ledger.Ledger{Entered: manyCalls + 1, Abandoned: manyCalls, InFlight: 1}) {
			t.Errorf("%+v", l)
		}
	})
}

// TestManyCalls: deep recursion, and coroutines that switch in the midst of it: what is kept
// is what is in progress.
func TestManyCalls(t *testing.T) {
	const depth, other = 1500, stack - 0x9000 // where a coroutine's stack begins
	rp := &Uretprobe{Handler: func(*UretprobeInstance, *amd64.Regs) {}}
	play(t, func(p *proc.Process) {
		rp.U.Pid, rp.U.Vaddr = p.PID, textAt
		must(t, registerReturn(rp))
	}, func(p *player) {
		for round := range 3 {
			for i := range uint64(depth) {
				enter(p, stack-0x10*(i+1), textAt+1)
				enter(p, other-0x10*(i+1), textAt+2)
			}
			if l := rp.U.Ledger(); l.InFlight+l.Abandoned != 2*depth || l.Abandoned == 0 {
				t.Errorf("round %d: %+v", round, l)
			}
			for i := uint64(depth); i > 0; i-- {
				if to := leave(p, other-0x10*i); to != textAt+2 {
					t.Fatalf("the coroutine's call %d returns to %#x", i, to)
				}
				if to := leave(p, stack-0x10*i); to != textAt+1 {
					t.Fatalf("call %d returns to %#x", i, to)
				}
			}
		}
	})
	if l := rp.U.Ledger(); l != (ledger.Ledger{Entered: 6 * depth, Handled: 6 * depth}) {
		t.Errorf("%+v", l)
	}
}

// TestMoreCallsThanMayBeNoted: those beyond are missed, and return as if there were no probe. What is noted
// is given back when the thread ends.
func TestMoreCallsThanMayBeNoted(t *testing.T) {
	const room, depth = 4, 10
	noted.Store(mostCalls - room)
	defer noted.Store(0)
	rp, s := playReturns(t, func(*UretprobeInstance, *amd64.Regs) {}, func(p *player) {
		for i := range uint64(depth) {
			enter(p, stack-0x10*i, textAt+1)
		}
		for i := uint64(depth); i > 0; i-- {
			if to := leave(p, stack-0x10*(i-1)); to != textAt+1 {
				t.Errorf("call %d returns to %#x", i, to)
			}
		}
	})
	if l := rp.U.Ledger(); s != 0 || l != (ledger.Ledger{Entered: depth, Handled: room, NoInst: depth - room}) {
		t.Errorf("status %#x, %+v", s, l)
	}
	if n := noted.Load(); n != mostCalls-room {
		t.Errorf("room for %d calls is taken", n-(mostCalls-room))
	}
}

// TestGoroutinesOfAllPrograms: a program cannot know more than others have left, and leaves its own when it
// ends.
func TestGoroutinesOfAllPrograms(t *testing.T) {
	const left = 2
	goroutinesKnown.Store(manyGoroutines - left)
	defer goroutinesKnown.Store(0)
	one, other := new(goroutines), new(goroutines)
	if one.meet(0x1000) == nil || one.meet(0x1000) == nil || other.meet(0x1000) == nil {
		t.Error("there was room for two")
	}
	if other.meet(0x2000) != nil {
		t.Error("and for another one")
	}
	one.forget()
	if other.meet(0x2000) == nil {
		t.Error("there is no room although a program has ended")
	}
}

// TestExitBehindACallThatWasLeft: longjmp has left a call, and a function that was called from
// another place before it had a probe uses the same slot. It returns to its own caller.
func TestExitBehindACallThatWasLeft(t *testing.T) {
	rp := &Uretprobe{Handler: func(*UretprobeInstance, *amd64.Regs) {}}
	play(t, func(p *proc.Process) {
		rp.U.Pid, rp.U.Vaddr = p.PID, textAt
		must(t, registerReturn(rp))
	}, func(p *player) {
		enter(p, stack, textAt+1)
		leave(p, stack)
		enter(p, stack-0x20, textAt+1)
		th := of(threadOf(p))
		th.calls.stack = append(th.calls.stack, call{slot: stack - 0x20, ret: textAt + 2, stays: true})
		r := th.Regs()
		r.IP, r.SP = textAt+3, stack-0x20+8
		th.exit(&point{plan: &place.Plan{In: insn.Inst{Flow: insn.Ret}}}, stack-0x20)
		if r.IP != textAt+3 {
			t.Errorf("it returns to %#x", r.IP)
		}
	})
}

// TestLedgerInHandlers: a call is in flight from its entry handler to the end of its handler, and is not missing in
// between. It used to be when its return handler ran, or was not to be called any more.
func TestLedgerInHandlers(t *testing.T) {
	d := new(diary)
	rp := new(Uretprobe)
	tell := func(when string) {
		l := rp.U.Ledger()
		d.add("%s: %d entered, %d in flight, %d handled, %d unexplained", when, l.Entered, l.InFlight, l.Handled, l.Unexplained())
	}
	rp.EntryHandler = func(*UretprobeInstance, *amd64.Regs) int { tell("entry"); return 0 }
	rp.Handler = func(*UretprobeInstance, *amd64.Regs) { tell("return"); panic("of a test") }
	play(t, func(p *proc.Process) {
		rp.U.Pid, rp.U.Vaddr = p.PID, textAt
		must(t, registerReturn(rp))
	}, func(p *player) {
		enter(p, stack, textAt+1)
		leave(p, stack)
		tell("end")
	})
	d.wants(t, "entry: 1 entered, 1 in flight, 0 handled, 0 unexplained", "return: 1 entered, 1 in flight, 0 handled, 0 unexplained",
		"end: 1 entered, 0 in flight, 0 handled, 0 unexplained")
}

// TestNoReturnAddress: a function that is entered by a jump has its stack as it was, whatever is there that is no
// address of code. Its call used to have the trampoline's address there.
func TestNoReturnAddress(t *testing.T) {
	words := []uint64{1, 42, stack, 0x7fffdeadb000, 1 << 63}
	rp, s := playReturns(t, func(*UretprobeInstance, *amd64.Regs) { t.Error("nothing has returned") }, func(p *player) {
		for _, w := range words {
			enter(p, stack, w)
			if got := p.Peek64(stack); got != w {
				t.Errorf("%#x has become %#x", w, got)
			}
		}
		enter(p, stack, textAt+7)
		if p.Peek64(stack) == textAt+7 {
			t.Error("a return address is as it was")
		}
	})
	if l := rp.U.Ledger(); s != 0 || l != (ledger.Ledger{Entered: uint64(len(words)) + 1, Abandoned: uint64(len(words)) + 1}) {
		t.Errorf("%+v, status %#x", l, s)
	}
}

// TestCallWithoutItsEntryHandler: a hit reads what the probes want, and then a probe with an entry handler is among
// them. Its handler used to be called for the return of that call.
func TestCallWithoutItsEntryHandler(t *testing.T) {
	plain := &Uretprobe{Handler: func(*UretprobeInstance, *amd64.Regs) {}}
	asked := &Uretprobe{
		EntryHandler: func(*UretprobeInstance, *amd64.Regs) int { return 1 },
		Handler:      func(*UretprobeInstance, *amd64.Regs) { t.Error("its entry handler has not asked for this call") },
	}
	play(t, func(p *proc.Process) {
		for _, rp := range []*Uretprobe{plain, asked} {
			rp.U.Pid, rp.U.Vaddr = p.PID, textAt
			must(t, registerReturn(rp))
		}
		tasks[p].text.points.Find(textAt).alone.Store(wantsEntry)
	}, func(p *player) {
		enter(p, stack, textAt+1)
		if to := leave(p, stack); to != textAt+1 {
			t.Errorf("it returns to %#x", to)
		}
	})
	if l := plain.U.Ledger(); l != (ledger.Ledger{Entered: 1, Handled: 1}) {
		t.Errorf("%+v", l)
	}
	if l := asked.U.Ledger(); l != (ledger.Ledger{}) {
		t.Errorf("%+v", l)
	}
}

// TestEntryHandlerThatPanics: its call is not in progress any more, so that it does not count against MaxActive.
func TestEntryHandlerThatPanics(t *testing.T) {
	rp := &Uretprobe{
		EntryHandler: func(*UretprobeInstance, *amd64.Regs) int { panic("of a test") },
		Handler:      func(*UretprobeInstance, *amd64.Regs) { t.Error("the call was not noted") },
	}
	play(t, func(p *proc.Process) {
		rp.U.Pid, rp.U.Vaddr = p.PID, textAt
		must(t, registerReturn(rp))
	}, func(p *player) {
		m := rp.U.state.Load()
		enter(p, stack, textAt+1)
		if to := leave(p, stack); to != textAt+1 {
			t.Errorf("it returns to %#x", to)
		}
		if n := m.Flying.Load(); n != 0 {
			t.Errorf("%d calls are in progress", n)
		}
	})
	if l := rp.U.Ledger(); l != (ledger.Ledger{Entered: 1, Abandoned: 1}) {
		t.Errorf("%+v", l)
	}
}
