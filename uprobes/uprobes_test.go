package uprobes

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"sonde/arch/amd64"
	"sonde/internal/quick"
	"sonde/kernel/vfs"
	"sonde/linux/proc"
	"sonde/linux/proctest"
	"sonde/linux/space"
	syscalls "sonde/linux/syscall"
	"sonde/uprobes/place"
)

type player = proctest.Player

// textAt is a page of NOPs in each program; stack is a stack pointer in it.
const (
	textAt = 0x700000
	stack  = proctest.StackTop - 0x1000
	fork   = 57
	wait4  = 61
)

// diary is what handlers note.
type diary struct {
	mu    sync.Mutex
	lines []string
}

func (d *diary) add(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
}

func (d *diary) probe(what string) func(*Uprobe, *amd64.Regs) {
	return func(*Uprobe, *amd64.Regs) { d.add("%s", what) }
}

func (d *diary) wants(t *testing.T, lines ...string) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	if !slices.Equal(d.lines, lines) {
		t.Errorf("%q, want %q", d.lines, lines)
	}
}

// play runs a program, which has to come to its end.
func play(t *testing.T, ready func(p *proc.Process), f proctest.Program) {
	t.Helper()
	if s := played(t, ready, f); s != 0 {
		t.Errorf("the program ends with status %#x", s)
	}
}

// played runs a program that begins when ready has been called, and returns how it ended.
func played(t *testing.T, ready func(p *proc.Process), f proctest.Program) proc.Status {
	t.Helper()
	return playedOn(t, proctest.NewWorld(64<<20, syscalls.Handle), ready, f)
}

// playedOn is played on a machine.
func playedOn(t *testing.T, w *proctest.World, ready func(p *proc.Process), f proctest.Program) proc.Status {
	t.Helper()
	Init(w.Table, fakeMachine())
	if *trapped {
		trapping(w)
	}
	used := w.Frames.Stats().Used
	img, err := w.Image("test", f)
	must(t, err)
	_, err = img.Space.Map(textAt, space.PageSize, space.Read|space.Write|space.Exec, space.Fixed, nil, 0)
	must(t, err)
	nops := make([]byte, 64)
	for i := range nops {
		nops[i] = 0x90
	}
	_, err = img.Space.CopyOut(textAt, nops)
	must(t, err)
	files, err := syscalls.NewFiles(vfs.Root.RootPlace())
	must(t, err)
	p, err := w.Table.Start(proc.Spec{Image: img, Resources: files, Ready: ready})
	must(t, err)
	select {
	case <-p.Done():
	case <-time.After(quick.Hang):
		t.Fatal("the program does not end")
	}
	mu.Lock()
	defer mu.Unlock()
	left := 0
	texts.Range(func(any, any) bool { left++; return true })
	if len(tasks)+left > 0 {
		t.Errorf("%d tasks and %d texts are left", len(tasks), left)
	}
	if n := w.Frames.Stats().Used - used; n != 0 {
		t.Errorf("%d frames are left", n)
	}
	return p.Status()
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// execute lets a program execute the instruction at addr, a NOP, and returns where it
// goes on.
func execute(p *player, addr uint64) uint64 {
	if p.Peek(addr, 1)[0] != 0xCC {
		return addr + 1
	}
	return p.Breakpoint(addr, stack)
}

func TestHandlersRunInOrder(t *testing.T) {
	d := new(diary)
	us := []*Uprobe{{Handler: d.probe("a")}, {Handler: d.probe("b")}, {Handler: d.probe("c")}}
	play(t, func(p *proc.Process) {
		for _, u := range us {
			u.Pid, u.Vaddr = p.PID, textAt+4
			must(t, register(u))
		}
		must(t, UnregisterUprobe(us[0]))
		must(t, register(us[0]))
	}, func(p *player) {
		if ip := execute(p, textAt+4); ip != textAt+5 {
			t.Errorf("it goes on at %#x", ip)
		}
	})
	d.wants(t, "b", "c", "a")
	if l := us[0].Ledger(); l.Entered != 1 || l.Handled != 1 {
		t.Errorf("%+v", l)
	}
	for _, u := range us {
		must(t, UnregisterUprobe(u)) // its process has ended
	}
}

func TestQueueIsCarriedOutBehindAllHandlers(t *testing.T) {
	d := new(diary)
	second := &Uprobe{Vaddr: textAt + 8, Handler: d.probe("second"), RegistrationCallback: func(u *Uprobe, reg int, typ Type, result error) {
		d.add("callback %d %d %v", reg, typ, result)
	}}
	bad := &Uprobe{Pid: 999, Handler: d.probe("bad"), RegistrationCallback: func(_ *Uprobe, _ int, _ Type, result error) {
		d.add("bad %v", errors.Is(result, syscall.ESRCH))
	}}
	first := &Uprobe{Vaddr: textAt, RegistrationCallback: func(u *Uprobe, reg int, _ Type, _ error) {
		d.add("first %d", reg)
		if reg == 0 {
			d.add("%v", RegisterUprobe(u)) // from a callback, likewise
		}
	}}
	first.Handler = func(*Uprobe, *amd64.Regs) {
		d.add("%v", RegisterUprobe(second))
		d.add("%v", UnregisterUprobe(first))
		d.add("%v", RegisterUprobe(bad))
		if Current() == nil {
			d.add("who is it?")
		}
	}
	third := &Uprobe{Vaddr: textAt, Handler: d.probe("third")}
	play(t, func(p *proc.Process) {
		first.Pid, second.Pid, third.Pid = p.PID, p.PID, p.PID
		must(t, RegisterUprobe(first))
		must(t, RegisterUprobe(third))
	}, func(p *player) {
		execute(p, textAt)
		execute(p, textAt+8)
	})
	in := syscall.EINPROGRESS.Error()
	d.wants(t, in, in, in, "third", "callback 1 0 <nil>", "first 0", in, "bad true", "first 1", "second")
}

func TestChildHasNone(t *testing.T) {
	d := new(diary)
	u := &Uprobe{Vaddr: textAt, Handler: d.probe("hit")}
	play(t, func(p *proc.Process) {
		u.Pid = p.PID
		must(t, register(u))
	}, func(p *player) {
		p.Fork(func(c *player) {
			c.Call(39) // its space is known then
			if c.Peek(textAt, 1)[0] == 0xCC {
				d.add("the child has the breakpoint")
			}
		}, fork)
		for p.Call(wait4, ^uint64(0), 0, 0, 0) < 0 {
		}
		execute(p, textAt)
	})
	d.wants(t, "hit")
}

// TestChildOfVforkMeetsLaterBreakpoints: its parent is probed for the first time while
// the child has its memory. The child used to be killed by a SIGTRAP.
func TestChildOfVforkMeetsLaterBreakpoints(t *testing.T) {
	const vfork = 58
	d := new(diary)
	u := &Uprobe{Vaddr: textAt, Handler: d.probe("hit")}
	play(t, func(p *proc.Process) { u.Pid = p.PID }, func(p *player) {
		p.Fork(func(c *player) {
			c.Call(39)
			must(t, register(u))
			if ip := execute(c, textAt); ip != textAt+1 {
				t.Errorf("the child goes on at %#x", ip)
			}
		}, vfork)
		status := uint64(proctest.Data)
		for p.Call(wait4, ^uint64(0), status, 0, 0) < 0 {
		}
		if s := p.Peek32(status); s != 0 {
			t.Errorf("the child ends with status %#x", s)
		}
		execute(p, textAt)
	})
	d.wants(t, "hit")
}

func TestForeignBreakpointIsASignal(t *testing.T) {
	s := played(t, func(p *proc.Process) {
		must(t, p.Memory().Out(textAt+1, []byte{0xCC}))
		u := &Uprobe{Pid: p.PID, Vaddr: textAt + 1, Handler: func(*Uprobe, *amd64.Regs) {}}
		if err := register(u); !errors.Is(err, syscall.EEXIST) {
			t.Errorf("%v", err)
		}
		u.Vaddr = textAt
		must(t, register(u))
	}, func(p *player) {
		p.Breakpoint(textAt+1, stack)
	})
	if s.Signal() != int(syscall.SIGTRAP) {
		t.Errorf("%#x", s)
	}
}

// TestStrayHit: a thread has hit a breakpoint that is gone when it looks.
func TestStrayHit(t *testing.T) {
	u := &Uprobe{Vaddr: textAt, Handler: func(*Uprobe, *amd64.Regs) { t.Error("it was removed") }}
	play(t, func(p *proc.Process) {
		u.Pid = p.PID
		must(t, register(u))
	}, func(p *player) {
		must(t, UnregisterUprobe(u))
		if b := p.Peek(textAt, 1)[0]; b != 0x90 {
			t.Errorf("the text has %#x", b)
		}
		if ip := p.Breakpoint(textAt, stack); ip != textAt {
			t.Errorf("it goes on at %#x, not at the instruction", ip)
		}
	})
}

func TestPanicDisables(t *testing.T) {
	u := &Uprobe{Vaddr: textAt, Handler: func(*Uprobe, *amd64.Regs) { panic("of a test") }}
	play(t, func(p *proc.Process) {
		u.Pid = p.PID
		must(t, register(u))
	}, func(p *player) {
		execute(p, textAt)
		execute(p, textAt)
	})
	if l := u.Ledger(); l.Abandoned != 1 || l.Disarmed != 1 || l.Unexplained() != 0 {
		t.Errorf("%+v", l)
	}
}

func TestKernelHandlerMayNotRegister(t *testing.T) {
	inTrap.goroutine.Store(goroutine())
	defer inTrap.goroutine.Store(0)
	for _, err := range []error{register(new(Uprobe)), UnregisterUprobe(new(Uprobe)), registerReturn(new(Uretprobe)), RegisterKprobeUser(new(KprobeUser))} {
		if !errors.Is(err, syscall.EDEADLK) {
			t.Error(err)
		}
	}
}

// enter plays a call of the function at textAt, with its return address at sp.
func enter(p *player, sp, ret uint64) {
	p.Poke64(sp, ret)
	p.Breakpoint(textAt, sp)
}

// leave plays a RET, and returns where the program goes on.
func leave(p *player, sp uint64) uint64 {
	to := p.Peek64(sp)
	if !bytes.Equal(p.Peek(to, len(place.Trampoline)), place.Trampoline[:]) {
		return to
	}
	r := p.Regs()
	p.Poke64(sp, r.CX)
	p.Poke64(sp-8, r.R11)
	return p.SyscallAt(to+uint64(len(place.Trampoline)), sp-8)
}

func TestReturns(t *testing.T) {
	d := new(diary)
	rp := &Uretprobe{Handler: func(ri *UretprobeInstance, r *amd64.Regs) { d.add("%#x %v", ri.RetAddr, ri.RetAddr == r.IP) }}
	play(t, func(p *proc.Process) {
		rp.U.Pid, rp.U.Vaddr = p.PID, textAt
		must(t, registerReturn(rp))
	}, func(p *player) {
		enter(p, stack, textAt+1)
		enter(p, stack-0x20, textAt+2) // it calls itself
		enter(p, stack-0x40, textAt+3) // and again; longjmp leaves this one
		enter(p, stack-0x40, textAt+4)
		if l := rp.U.Ledger(); l.Abandoned != 1 || l.InFlight != 3 {
			t.Errorf("after longjmp: %+v", l)
		}
		enter(p, stack-0x800, textAt+5) // on another stack, which is left without return
		if got := leave(p, stack-0x40); got != textAt+4 {
			t.Errorf("it returns to %#x", got)
		}
		if got := leave(p, stack-0x20); got != textAt+2 {
			t.Errorf("it returns to %#x", got)
		}
		if got := leave(p, stack); got != textAt+1 {
			t.Errorf("it returns to %#x", got)
		}
	})
	d.wants(t, "0x700004 true", "0x700002 true", "0x700001 true")
	if l := rp.U.Ledger(); l.Entered != 5 || l.Handled != 3 || l.Abandoned != 2 || l.InFlight != 0 || l.Unexplained() != 0 {
		t.Errorf("%+v", l)
	}
}

// TestCallReturnsAfterUnregistering: by the trampoline, without the handler.
func TestCallReturnsAfterUnregistering(t *testing.T) {
	rp := &Uretprobe{Handler: func(*UretprobeInstance, *amd64.Regs) { t.Error("it was removed") }}
	play(t, func(p *proc.Process) {
		rp.U.Pid, rp.U.Vaddr = p.PID, textAt
		must(t, registerReturn(rp))
	}, func(p *player) {
		enter(p, stack, textAt+9)
		must(t, UnregisterUretprobe(rp))
		if got := leave(p, stack); got != textAt+9 {
			t.Errorf("it returns to %#x", got)
		}
	})
	if l := rp.U.Ledger(); l.Disarmed != 1 || l.Unexplained() != 0 {
		t.Errorf("%+v", l)
	}
}
