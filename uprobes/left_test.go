package uprobes

import (
	"errors"
	"syscall"
	"testing"

	"sonde/arch/amd64"
	"sonde/linux/proc"
	"sonde/probe/ledger"
)

// TestCallsThatAreLeft: a call that longjmp has left is counted as soon as the stack says so. If
// it was a coroutine's, which is only away, it is counted again as what it is.
func TestCallsThatAreLeft(t *testing.T) {
	rp := &Uretprobe{Handler: func(*UretprobeInstance, *amd64.Regs) {}}
	check := func(when string, entered, handled, abandoned, inFlight uint64) {
		t.Helper()
		if l, want := rp.U.Ledger(), (ledger.Ledger{Entered: entered, Handled: handled, Abandoned: abandoned, InFlight: inFlight}); l != want {
			t.Errorf("%s: %+v, want %+v", when, l, want)
		}
	}
	play(t, func(p *proc.Process) {
		rp.U.Pid, rp.U.Vaddr = p.PID, textAt
		must(t, registerReturn(rp))
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

// TestSlotThatIsUsedAgain: longjmp has left a call, and another one has its slot. The old one does
// not return, be it counted before or not.
func TestSlotThatIsUsedAgain(t *testing.T) {
	const below = stack - 0x40
	rp := &Uretprobe{Handler: func(*UretprobeInstance, *amd64.Regs) {}}
	check := func(when string, abandoned, inFlight uint64) {
		t.Helper()
		if l := rp.U.Ledger(); l.Abandoned != abandoned || l.InFlight != inFlight {
			t.Errorf("%s: %+v", when, l)
		}
	}
	play(t, func(p *proc.Process) {
		rp.U.Pid, rp.U.Vaddr = p.PID, textAt
		must(t, registerReturn(rp))
	}, func(p *player) {
		enter(p, stack, textAt+1)
		enter(p, stack, textAt+2)
		check("a slot in progress", 1, 1)
		enter(p, below, textAt+3)
		enter(p, stack-0x20, textAt+4)
		check("a call below is left", 2, 2)
		enter(p, below, textAt+5)
		check("its slot is used again", 2, 3)
		for _, c := range []struct{ sp, ret uint64 }{{below, textAt + 5}, {stack - 0x20, textAt + 4}, {stack, textAt + 2}} {
			if to := leave(p, c.sp); to != c.ret {
				t.Errorf("the call at %#x returns to %#x, not %#x", c.sp, to, c.ret)
			}
		}
		check("at the end", 2, 0)
	})
}

// TestNothingIsKeptOfALeftCall: a call that was left is forgotten when its slot is used again.
func TestNothingIsKeptOfALeftCall(t *testing.T) {
	const up, down = 0x200, 0x100
	var cs callList
	enter := func(slot uint64) {
		cs.enter(slot, false)
		cs.stack = append(cs.stack, call{slot: slot})
	}
	enter(down)
	enter(up)
	if cs.nleft != 1 || cs.left[down] == nil {
		t.Errorf("%d calls are left", cs.nleft)
	}
	enter(down)
	if cs.nleft != 0 || cs.left[down] != nil || len(cs.stack) != 2 {
		t.Errorf("%d calls are left, %d are in progress", cs.nleft, len(cs.stack))
	}
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
		if l := rp.U.Ledger(); l != (ledger.Ledger{Entered: 1, Abandoned: 1}) {
			t.Errorf("probe %d: %+v", i, l)
		}
	}
}

// TestMorePointsThanThereMayBe: there is as much memory for them as the machine has. A place that had a probe has
// room for one.
func TestMorePointsThanThereMayBe(t *testing.T) {
	us := [2]*Uprobe{}
	for i := range us {
		us[i] = &Uprobe{Vaddr: textAt + uint64(i), Handler: func(*Uprobe, *amd64.Regs) {}}
	}
	before := pointsMade
	play(t, func(p *proc.Process) {
		us[0].Pid, us[1].Pid = p.PID, p.PID
		must(t, register(us[0]))
		was := pointsMade
		for _, ram := range []uint64{64 << 20, 1 << 30} {
			table.Memory.RAM = ram
			pointsMade = int(ram / 4 / pointBytes)
			must(t, UnregisterUprobe(us[0]))
			must(t, register(us[0]))
			if err := register(us[1]); !errors.Is(err, syscall.ENOMEM) {
				t.Errorf("%v", err)
			}
			pointsMade--
			must(t, register(us[1]))
			must(t, UnregisterUprobe(us[1]))
			textOf(p.Memory()).known.Delete(uint64(textAt + 1))
		}
		pointsMade = was + 2
	}, func(*player) {})
	if pointsMade != before {
		t.Errorf("%d points are left", pointsMade-before)
	}
}
