package uprobes

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"sonde/arch/amd64"
	"sonde/internal/quick"
	"sonde/kernel/abi"
	"sonde/linux/proc"
	"sonde/probe/ledger"
)

// TestHandlerThatDoesNotReturn: its process can be killed all the same, and whoever
// unregisters the probe need not wait any more. When the handler returns after all, that
// changes nothing.
func TestHandlerThatDoesNotReturn(t *testing.T) {
	var pr *proc.Process
	stuck, let, over := make(chan bool), make(chan bool), make(chan bool)
	var late []error
	u := &Uprobe{Vaddr: textAt}
	u.Handler = func(*Uprobe, *amd64.Regs) {
		defer close(over)
		close(stuck)
		<-let
		late = append(late, RegisterUprobe(&Uprobe{Pid: u.Pid, Vaddr: textAt + 1, Handler: u.Handler}))
		runtime.Gosched()
	}
	behind := &Uprobe{Vaddr: textAt, Handler: func(*Uprobe, *amd64.Regs) { t.Error("a handler behind it is called") }}
	rp := &Uretprobe{Handler: func(*UretprobeInstance, *amd64.Regs) {}}
	rp.U.Vaddr = textAt + 8
	go func() {
		<-stuck
		pr.Kill(9)
	}()
	s := played(t, func(p *proc.Process) {
		pr, u.Pid, behind.Pid, rp.U.Pid = p, p.PID, p.PID, p.PID
		must(t, RegisterUprobe(u))
		must(t, RegisterUprobe(behind))
		must(t, RegisterUretprobe(rp))
	}, func(p *player) {
		p.Poke64(stack+0x40, textAt+9)
		p.Breakpoint(textAt+8, stack+0x40)
		execute(p, textAt)
	})
	if s.Signal() != 9 {
		t.Errorf("it ends with %#x", s)
	}
	must(t, UnregisterUprobe(u))
	if l := u.Ledger(); l.Entered != 1 || l.Abandoned != 1 || l.Unexplained() != 0 {
		t.Errorf("%+v", l)
	}
	if l := rp.U.Ledger(); l.Entered != 1 || l.Abandoned != 1 || l.InFlight != 0 || l.Unexplained() != 0 {
		t.Errorf("the call that it was in: %+v", l)
	}
	close(let)
	<-over
	for end := time.Now().Add(quick.Hang); listed() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("its goroutine goes on")
		}
	}
	if l := u.Ledger(); l.Handled != 0 || l.Abandoned != 1 || l.Unexplained() != 0 {
		t.Errorf("after it has returned: %+v", l)
	}
	if len(late) != 1 || !errors.Is(late[0], syscall.ESRCH) {
		t.Errorf("it registers a probe: %v", late)
	}
}

// listed is how many threads are among those that have hit a probe.
func listed() (n int) {
	running.Range(func(any, any) bool { n++; return true })
	return n
}

// TestExecWhileHandlerDoesNotReturn: exec has to end the other threads.
func TestExecWhileHandlerDoesNotReturn(t *testing.T) {
	const clone = 56
	const thread = abi.CLONE_VM | abi.CLONE_SIGHAND | abi.CLONE_THREAD
	stuck, let := make(chan bool), make(chan bool)
	var once sync.Once
	defer close(let)
	u := &Uprobe{Vaddr: textAt, Handler: func(*Uprobe, *amd64.Regs) {
		once.Do(func() { close(stuck) })
		<-let
	}}
	execed := false
	play(t, func(p *proc.Process) {
		u.Pid = p.PID
		must(t, RegisterUprobe(u))
	}, func(p *player) {
		p.Fork(func(c *player) { execute(c, textAt) }, clone, thread, stack-0x4000)
		<-stuck
		execNext(t, p, func(*player) { execed = true })
	})
	if !execed {
		t.Error("the other program has not run")
	}
}

// TestHandlerEndsItsGoroutine: its program cannot go on, and nobody waits for it.
func TestHandlerEndsItsGoroutine(t *testing.T) {
	u := &Uprobe{Vaddr: textAt, Handler: func(*Uprobe, *amd64.Regs) { runtime.Goexit() }}
	s := played(t, func(p *proc.Process) {
		u.Pid = p.PID
		must(t, RegisterUprobe(u))
	}, func(p *player) { execute(p, textAt) })
	if s.Signal() != 9 {
		t.Errorf("it ends with %#x", s)
	}
	if l := u.Ledger(); l.Abandoned != 1 || l.Unexplained() != 0 {
		t.Errorf("%+v", l)
	}
}

// TestPanicOfPostHandler: the hit has been counted before, and is not counted twice.
func TestPanicOfPostHandler(t *testing.T) {
	th, m := new(thread), &member{Counter: new(ledger.Counter), idle: make(chan struct{})}
	th.t = new(proc.Thread)
	m.Count(ledger.Handled)
	m.tell(th, func() { panic("of a test") })
	if l := m.Ledger(); l.Handled != 1 || l.Abandoned != 0 || !m.flags.Has(abandoned) {
		t.Errorf("%+v", l)
	}
}

// TestQueueOfAProcessThatEnds: what a handler has asked for is done, and told, before
// the process is forgotten.
func TestQueueOfAProcessThatEnds(t *testing.T) {
	d := new(diary)
	second := &Uprobe{Vaddr: textAt + 8, Handler: d.probe("second"), RegistrationCallback: func(_ *Uprobe, reg int, _ Type, result error) {
		d.add("callback %d %v", reg, result)
	}}
	u := &Uprobe{Vaddr: textAt}
	u.Handler = func(*Uprobe, *amd64.Regs) {
		Current().Process().Kill(9)
		d.add("%v", RegisterUprobe(second))
	}
	s := played(t, func(p *proc.Process) {
		u.Pid, second.Pid = p.PID, p.PID
		must(t, RegisterUprobe(u))
	}, func(p *player) { execute(p, textAt) })
	if s.Signal() != 9 {
		t.Errorf("it ends with %#x", s)
	}
	d.wants(t, syscall.EINPROGRESS.Error(), "callback 1 <nil>")
	must(t, UnregisterUprobe(second))
}

// TestUnregisterWaits: when it returns, no handler of the probe runs.
func TestUnregisterWaits(t *testing.T) {
	stuck, let, gone := make(chan bool), make(chan bool), make(chan bool)
	u := &Uprobe{Vaddr: textAt, Handler: func(*Uprobe, *amd64.Regs) {
		close(stuck)
		<-let
	}}
	go func() {
		<-stuck
		must(t, UnregisterUprobe(u))
		close(gone)
	}()
	play(t, func(p *proc.Process) {
		u.Pid = p.PID
		must(t, RegisterUprobe(u))
	}, func(p *player) {
		go func() {
			<-stuck
			select {
			case <-gone:
				t.Error("it is unregistered while its handler runs")
			case <-time.After(50 * time.Millisecond):
			}
			close(let)
		}()
		execute(p, textAt)
		select {
		case <-gone:
		case <-time.After(quick.Hang):
			t.Error("it is never unregistered")
		}
	})
}

// TestDrainWaits: of a probe that is unregistered, nothing is waited for after its last handler, and all before. It
// takes no time: in the bubble, Wait returns when drain has, or can go on only with what this does.
func TestDrainWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &member{idle: make(chan struct{})}
		m.flags.Set(unregistered)
		m.running.Store(2)
		var drained atomic.Bool
		go func() {
			m.drain()
			drained.Store(true)
		}()
		for _, last := range []bool{false, true} {
			if synctest.Wait(); drained.Load() {
				t.Errorf("it has been drained while %d handlers run", m.running.Load())
			}
			m.leave()
			if synctest.Wait(); drained.Load() != last {
				t.Errorf("%d handlers run, drained is %v", m.running.Load(), drained.Load())
			}
		}
	})
}

// TestHandlerBegunAfterTheKill: the process was killed when its program still ran.
func TestHandlerBegunAfterTheKill(t *testing.T) {
	var pr *proc.Process
	let := make(chan bool)
	defer close(let)
	u := &Uprobe{Vaddr: textAt, Handler: func(*Uprobe, *amd64.Regs) { <-let }}
	s := played(t, func(p *proc.Process) {
		pr, u.Pid = p, p.PID
		must(t, RegisterUprobe(u))
	}, func(p *player) {
		pr.Kill(9)
		execute(p, textAt)
	})
	if s.Signal() != 9 {
		t.Errorf("it ends with %#x", s)
	}
}

// TestCallbackThatDoesNotReturn is left behind as a handler is.
func TestCallbackThatDoesNotReturn(t *testing.T) {
	let := make(chan bool)
	defer close(let)
	second := &Uprobe{Vaddr: textAt + 8, Handler: func(*Uprobe, *amd64.Regs) {}}
	u := &Uprobe{Vaddr: textAt, Handler: func(*Uprobe, *amd64.Regs) { RegisterUprobe(second) }}
	second.RegistrationCallback = func(*Uprobe, int, Type, error) {
		Current().Process().Kill(9)
		<-let
	}
	s := played(t, func(p *proc.Process) {
		u.Pid, second.Pid = p.PID, p.PID
		must(t, RegisterUprobe(u))
	}, func(p *player) { execute(p, textAt) })
	if s.Signal() != 9 {
		t.Errorf("it ends with %#x", s)
	}
}
