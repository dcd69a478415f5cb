package syscall

import (
	"slices"
	"testing"
	"time"

	"sonde/linux/proc"
	"sonde/linux/proctest"
)

// TestShortCallsAnswerAsTheTableDoes: what is short has the result that Handle gives it, and
// everything else is left to Handle, with nothing changed.
func TestShortCallsAnswerAsTheTableDoes(t *testing.T) {
	all := Shorts()
	if !slices.Contains(all, nGetpid) || !slices.Contains(all, nGettid) {
		t.Fatalf("short calls are %v", all)
	}
	asked := map[uint64]bool{}
	w := proctest.NewWorld(64<<20, func(th *proc.Thread) {
		before := *th.Regs()
		v, ok := answer(th)
		if *th.Regs() != before {
			t.Errorf("call %d has changed registers", before.AX)
		}
		Handle(th)
		if short := slices.Contains(all, int(before.AX)); ok != short || ok && v != th.Regs().AX {
			t.Errorf("call %d: %d, %v; by the table %d", before.AX, v, ok, th.Regs().AX)
		}
		asked[before.AX] = true
	})
	finish(t, w, begin(t, w, func(p *player) {
		for _, n := range all {
			p.Call(uint64(n), 1, 2, 3)
		}
		p.Call(nGetppid)
		p.Call(uint64(len(shorts)))
		p.Call(1 << 63)
	}))
	if len(asked) < len(all)+3 {
		t.Errorf("only %v were asked for", asked)
	}
}

// TestShortCallsAreLeftToEngines: with an engine, and while something is left of an earlier call, a
// call is made as others are.
func TestShortCallsAreLeftToEngines(t *testing.T) {
	e := new(proc.Engine)
	calls := 0
	w := proctest.NewWorld(64<<20, func(th *proc.Thread) {
		if th.Regs().AX == nGetpid {
			calls++
			switch calls {
			case 2:
				th.Process().Attach(e)
			case 3:
				th.Process().Detach(e)
			case 4:
				th.Deadline(time.Hour)
			}
			_, ok := answer(th)
			if want := calls%2 == 1; ok != want {
				t.Errorf("call %d is short: %v, want %v", calls, ok, want)
			}
		}
		Handle(th)
	})
	finish(t, w, begin(t, w, func(p *player) {
		for range 5 {
			p.Call(nGetpid)
		}
	}))
	if calls != 5 {
		t.Errorf("%d calls", calls)
	}
}
