package uprobes

import (
	"testing"

	"sonde/arch/amd64"
	"sonde/kernel/probe"
	"sonde/kernel/proc"
)

// TestCallsThatAreLeft: a call that longjmp has left is counted as soon as the stack says so. If
// it was a coroutine's, which is only away, it is counted again as what it is.
func TestCallsThatAreLeft(t *testing.T) {
	rp := &Uretprobe{Handler: func(*UretprobeInstance, *amd64.Regs) {}}
	check := func(when string, entered, handled, abandoned, inFlight uint64) {
		t.Helper()
		if l, want := rp.U.Ledger(), (probe.Ledger{Entered: entered, Handled: handled, Abandoned: abandoned, InFlight: inFlight}); l != want {
			t.Errorf("%s: %+v, want %+v", when, l, want)
		}
	}
	play(t, func(p *proc.Process) {
		rp.U.Pid, rp.U.Vaddr = p.PID, textAt
		must(t, RegisterUretprobe(rp))
	}, func(p *player) {
		const other = stack - 0x800 // where a coroutine's stack is
		enter(p, stack, textAt+1)
		enter(p, other, textAt+2)
		enter(p, other-0x20, textAt+3)
		check("three calls", 3, 0, 0, 3)
		enter(p, stack-0x40, textAt+4)
		check("a call further up", 4, 0, 2, 2)
		leave(p, stack-0x40)
		leave(p, stack)
		check("returned", 4, 2, 2, 0)
		if to := leave(p, other-0x20); to != textAt+3 {
			t.Errorf("the coroutine goes on at %#x", to)
		}
		check("a coroutine has come back", 4, 3, 1, 0)
		enter(p, other-0x20, textAt+5)
		enter(p, stack-0x100, textAt+6)
		check("it calls again, and is left again", 6, 3, 2, 1)
		enter(p, other, textAt+7) // over what was left there
		check("a slot is used again", 7, 3, 2, 2)
		leave(p, other)
		check("one is left", 7, 4, 2, 1)
	})
	check("at the end", 7, 4, 3, 0)
}

// TestReturnHandlerThatDoesNotReturn: the probe behind it has a call that was entered.
func TestReturnHandlerThatDoesNotReturn(t *testing.T) {
	var pr *proc.Process
	let := make(chan bool)
	defer close(let)
	first := &Uretprobe{Handler: func(*UretprobeInstance, *amd64.Regs) {
		pr.Kill(9)
		<-let
	}}
	second := &Uretprobe{Handler: func(*UretprobeInstance, *amd64.Regs) { t.Error("it is called") }}
	both := []*Uretprobe{first, second}
	played(t, func(p *proc.Process) {
		pr = p
		for _, rp := range both {
			rp.U.Pid, rp.U.Vaddr = p.PID, textAt
			must(t, RegisterUretprobe(rp))
		}
	}, func(p *player) {
		enter(p, stack, textAt+1)
		leave(p, stack)
	})
	for i, rp := range both {
		if l := rp.U.Ledger(); l != (probe.Ledger{Entered: 1, Abandoned: 1}) {
			t.Errorf("probe %d: %+v", i, l)
		}
	}
}
