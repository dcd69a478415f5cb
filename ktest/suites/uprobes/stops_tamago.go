//go:build tamago

package uprobes

import (
	"math/rand/v2"
	"sync/atomic"
	"time"

	"sonde/arch/amd64"
	"sonde/kernel/abi"
	"sonde/kernel/vfs"
	"sonde/ktest/suites"
	"sonde/linux/proc"
	"sonde/uprobes"
)

func init() {
	suites.Add("uprobes/stopped_in_slow_handlers", stoppedInSlowHandlers)
	suites.Add("uprobes/threads_stopped_in_slow_handlers", threadsStopped)
}

// countsForEver adds 1 to the word at ProgramData, does nothing, and begins again.
var countsForEver = []byte{
	0x48, 0xff, 0x04, 0x25, 0x00, 0x20, 0x40, 0x00, // INCQ ProgramData
	0x90,       // NOP
	0xeb, 0xf5, // JMP to the INCQ
}

const nopAt = suites.ProgramAt + 8

// slowly waits for a millisecond or so, not each time.
func slowly(oneIn int) {
	if rand.IntN(oneIn) == 0 {
		time.Sleep(time.Duration(rand.IntN(3000)) * time.Microsecond)
	}
}

// stopAndGo has goroutines send p SIGSTOP and SIGCONT at random until done. It returns how
// many of each kind were sent.
func stopAndGo(t *suites.T, p *proc.Process, done func() bool) (stops, conts *atomic.Int64) {
	stops, conts = new(atomic.Int64), new(atomic.Int64)
	for range 3 {
		t.Go(func() {
			for !done() {
				sig, n := abi.SIGCONT, conts
				if rand.IntN(2) == 0 {
					sig, n = abi.SIGSTOP, stops
				}
				p.Send(proc.SignalOf(sig)) // it may have ended
				n.Add(1)
				time.Sleep(time.Duration(rand.IntN(1500)) * time.Microsecond)
			}
		})
	}
	return stops, conts
}

// stoppedInSlowHandlers: hits are as many as the program's own counter says, at each hit,
// while its process is stopped and continues at any time; and so when it is killed.
func stoppedInSlowHandlers(t *suites.T) {
	t.NeedPrograms()
	const path = "/counts-for-ever"
	suites.WriteProgram(t, path, countsForEver)
	defer vfs.Remove(path)
	total := int64(0)
	for range suites.Rounds(5, 200) {
		total += stopped(t, path, int64(50+rand.IntN(100)))
	}
	t.Logf("count: uprobes/hits-between-stops %d", total)
}

// stopped lets the program run for some hits, and returns how many there were.
func stopped(t *suites.T, path string, hits int64) int64 {
	var inc, nop atomic.Int64
	var p *proc.Process
	a := &uprobes.Uprobe{Vaddr: suites.ProgramAt, Handler: func(*uprobes.Uprobe, *amd64.Regs) {
		inc.Add(1)
		slowly(2)
	}}
	b := &uprobes.Uprobe{Vaddr: nopAt, Handler: func(*uprobes.Uprobe, *amd64.Regs) {
		n := nop.Add(1)
		slowly(4)
		if own, err := p.Memory().LoadWord(suites.ProgramData); err != nil || int64(own) != n || inc.Load() != n {
			t.Errorf("%d hits before and %d behind the instruction, which was executed %d times (%v)", inc.Load(), n, own, err)
		}
	}}
	suites.StartProgram(t, path, func(of *proc.Process) {
		p = of
		a.Pid, b.Pid = p.PID, p.PID
		t.Must(uprobes.RegisterUprobe(a))
		t.Must(uprobes.RegisterUprobe(b))
	})
	end := time.Now().Add(suites.Limit)
	var killed atomic.Bool
	done := func() bool { return killed.Load() || t.Failed() || time.Now().After(end) }
	stops, conts := stopAndGo(t, p, done)
	for nop.Load() < hits && !done() {
		time.Sleep(time.Duration(rand.IntN(1000)) * time.Microsecond)
	}
	p.Send(proc.SignalOf(abi.SIGKILL)) // stopped or not
	status := suites.WaitProgram(t, p)
	killed.Store(true)
	t.Wait()
	if d := inc.Load() - nop.Load(); status != proc.Killed(9) || d < 0 || d > 1 || nop.Load() < hits || stops.Load() == 0 || conts.Load() == 0 {
		t.Errorf("%v, %d and %d hits of %d, %d stops, %d conts", status, inc.Load(), nop.Load(), hits, stops.Load(), conts.Load())
	}
	for _, u := range []*uprobes.Uprobe{a, b} {
		l := u.Ledger()
		if n := map[*uprobes.Uprobe]int64{a: inc.Load(), b: nop.Load()}[u]; l.Unexplained() != 0 || int64(l.Handled) != n {
			t.Errorf("%d calls of the handler: %+v", n, l)
		}
		t.Must(uprobes.UnregisterUprobe(u))
	}
	return nop.Load()
}

// threadsStopped: the same for four threads and a return probe, counted at the end.
func threadsStopped(t *suites.T) {
	p := need(t, "/bin/probed")
	for range suites.Rounds(1, 20) {
		var calls, returns atomic.Int64
		u := &uprobes.Uprobe{Handler: func(*uprobes.Uprobe, *amd64.Regs) { calls.Add(1); slowly(64) }}
		rp := &uprobes.Uretprobe{Handler: func(*uprobes.UretprobeInstance, *amd64.Regs) { returns.Add(1); slowly(64) }}
		r := p.start(t, func(in *proc.Process) {
			p.probe(t, in, u, "leaf")
			rp.U.Pid, rp.U.Vaddr = u.Pid, u.Vaddr
			t.Must(uprobes.RegisterUretprobe(rp))
		}, "threads")
		end := time.Now().Add(suites.Limit / 4)
		stops, _ := stopAndGo(t, r.p, func() bool { return time.Now().After(end) || returns.Load() >= 3900 })
		t.Wait()
		r.p.Send(proc.SignalOf(abi.SIGCONT))
		r.wait(t, "threads 6000000\n")
		if calls.Load() != 4000 || returns.Load() != 4000 || stops.Load() == 0 {
			t.Errorf("%d calls and %d returns of 4000, %d stops", calls.Load(), returns.Load(), stops.Load())
		}
		t.Must(uprobes.UnregisterUprobe(u))
		t.Must(uprobes.UnregisterUretprobe(rp))
	}
}
