package uprobes

import (
	"errors"
	"slices"
	"syscall"
	"testing"
	"time"

	"sonde/arch/amd64"
	"sonde/kernel/abi"
	"sonde/linux/proc"
	"sonde/linux/proctest"
	"sonde/probe/glass"
)

// filmed plays a program with a camera for the second hit of textAt, and returns the frames.
func filmed(t *testing.T, c *Camera, ready func(p *proc.Process), f proctest.Program) (frames []glass.Frame) {
	t.Helper()
	film, err := glass.New(2, -1)
	must(t, err)
	defer film.Close()
	c.Film = film
	play(t, func(p *proc.Process) {
		c.RP.U.Pid, c.RP.U.Vaddr = p.PID, textAt
		ready(p)
		must(t, RegisterCamera(c))
		if err := RegisterCamera(&Camera{Film: film, RP: Uretprobe{U: Uprobe{Pid: p.PID, Vaddr: textAt}}}); !errors.Is(err, syscall.EBUSY) {
			t.Errorf("a second camera: %v", err)
		}
	}, f)
	if !film.Done() {
		t.Error("the hit is not over")
	}
	UnregisterCamera(c)
	if len(cameras) != 0 {
		t.Error("a camera is left behind")
	}
	frames, _ = film.Recorded()
	return frames
}

func shows(t *testing.T, frames []glass.Frame, want ...glass.Stage) {
	t.Helper()
	var got []glass.Stage
	for i := range frames {
		got = append(got, frames[i].Stage)
	}
	if !slices.Equal(got, want) {
		t.Errorf("stages %v, want %v", got, want)
	}
}

// TestFilmOfAHit: handlers, one that panics, one that is disabled, and the instruction.
func TestFilmOfAHit(t *testing.T) {
	n := 0
	us := []*Uprobe{{Handler: func(*Uprobe, *amd64.Regs) { n++ }}, {Handler: func(*Uprobe, *amd64.Regs) {
		if n == 2 {
			panic("a handler")
		}
	}}, {Handler: func(*Uprobe, *amd64.Regs) { t.Error("it is called") }}}
	frames := filmed(t, new(Camera), func(p *proc.Process) {
		for _, u := range us {
			u.Pid, u.Vaddr = p.PID, textAt
			must(t, register(u))
		}
		must(t, DisableUprobe(us[2]))
	}, func(p *player) {
		for range 3 {
			if ip := execute(p, textAt); ip != textAt+1 {
				t.Errorf("it goes on at %#x", ip)
			}
		}
	})
	want := []glass.Stage{glass.Trapped, glass.Enters, glass.Returned, glass.Enters, glass.Abandoned, glass.Off, glass.Emulates, glass.Emulated}
	if *trapped { // a NOP is no emulation there
		want = slices.Delete(want, 6, 7)
	}
	shows(t, frames, want...)
	if n != 3 || us[1].Ledger().Abandoned != 1 {
		t.Errorf("%d hits; %+v", n, us[1].Ledger())
	}
}

// TestFilmOfACall: the call is recorded by the camera alone, and returns after a call of the same function.
func TestFilmOfACall(t *testing.T) {
	frames := filmed(t, &Camera{Return: true}, func(p *proc.Process) {}, func(p *player) {
		enter(p, stack, textAt+1)
		enter(p, stack-0x20, textAt+2)
		enter(p, stack-0x40, textAt+3)
		leave(p, stack-0x40)
		leave(p, stack-0x20)
		leave(p, stack)
	})
	shows(t, frames, glass.Trapped, glass.Replaced, glass.Emulates, glass.Emulated, glass.Trampoline, glass.GoesBack)
	if to := frames[len(frames)-1].Regs[glass.IP]; to != textAt+2 {
		t.Errorf("it goes back to %#x", to)
	}
}

// TestFilmOfAProgramThatEnds: the recorded call does not return.
func TestFilmOfAProgramThatEnds(t *testing.T) {
	frames := filmed(t, &Camera{Return: true}, func(p *proc.Process) {}, func(p *player) {
		enter(p, stack, textAt+1)
		enter(p, stack-0x20, textAt+2)
	})
	shows(t, frames, glass.Trapped, glass.Replaced, glass.Emulates, glass.Emulated, glass.Died)
}

// TestPlaceIsAsBeforeTheCamera: its hits must not take more instructions for ever.
func TestPlaceIsAsBeforeTheCamera(t *testing.T) {
	film, err := glass.New(1, -1)
	must(t, err)
	defer film.Close()
	rp := &Uretprobe{Handler: func(*UretprobeInstance, *amd64.Regs) {}}
	play(t, func(p *proc.Process) {
		rp.U.Pid, rp.U.Vaddr = p.PID, textAt
		must(t, registerReturn(rp))
		pt := tasks[p].text.points.Find(textAt)
		entries, alone, n := pt.entries.Load(), pt.alone.Load(), len(pt.members.All())
		c := &Camera{Film: film, Return: true}
		c.RP.U.Pid, c.RP.U.Vaddr = p.PID, textAt
		must(t, RegisterCamera(c))
		if len(pt.members.All()) == n+1 {
			t.Error("there are no seams")
		}
		UnregisterCamera(c)
		UnregisterCamera(c)
		if pt.entries.Load() != entries || pt.alone.Load() != alone || len(pt.members.All()) != n || film.Done() {
			t.Errorf("entries %#x, was %#x; alone %#x, was %#x; %d members", pt.entries.Load(), entries, pt.alone.Load(), alone, len(pt.members.All()))
		}
	}, func(p *player) {})
}

// TestFilmIsOfOneThread: while a handler of the recorded hit blocks, another thread has a hit.
func TestFilmIsOfOneThread(t *testing.T) {
	const clone, exit = 56, 60
	const thread = abi.CLONE_VM | abi.CLONE_SIGHAND | abi.CLONE_THREAD
	n, waits, goesOn := 0, make(chan bool), make(chan bool)
	u := &Uprobe{Vaddr: textAt, Handler: func(*Uprobe, *amd64.Regs) {
		if n++; n == 2 {
			close(waits)
			<-goesOn
		}
	}}
	frames := filmed(t, new(Camera), func(p *proc.Process) {
		u.Pid = p.PID
		must(t, RegisterUprobe(u))
	}, func(p *player) {
		execute(p, textAt)
		p.Fork(func(c *player) {
			<-waits
			execute(c, textAt)
			close(goesOn)
			c.Call(exit, 0)
		}, clone, thread, stack-0x4000)
		execute(p, textAt)
	})
	shows(t, frames, glass.Trapped, glass.Enters, glass.Returned, glass.Emulates, glass.Emulated)
}

// TestFilmOfAThreadThatEnds: the recorded call does not return, and the program goes on.
func TestFilmOfAThreadThatEnds(t *testing.T) {
	const clone, exit = 56, 60
	const thread = abi.CLONE_VM | abi.CLONE_SIGHAND | abi.CLONE_THREAD
	c := &Camera{Return: true}
	frames := filmed(t, c, func(*proc.Process) {}, func(p *player) {
		enter(p, stack, textAt+1)
		p.Fork(func(c *player) {
			enter(c, stack-0x4000, textAt+2)
			c.Call(exit, 0)
		}, clone, thread, stack-0x4000)
		for range 1000 {
			if c.Film.Done() {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Error("the recording is not over")
	})
	shows(t, frames, glass.Trapped, glass.Replaced, glass.Emulates, glass.Emulated, glass.Died)
}
