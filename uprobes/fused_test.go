package uprobes

import (
	"errors"
	"testing"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kernel/cpu/percpu"
	"sonde/linux/proc"
	"sonde/linux/proctest"
	syscalls "sonde/linux/syscall"
	"sonde/probe/attach"
)

// fuser is a handler that can be compiled, if it is ready.
type fuser struct{ ready bool }

func (f *fuser) Ready() bool                                { return f.ready }
func (f *fuser) Fuse(*attach.Fusion) (*attach.Fused, error) { return nil, nil }

// stubs are made by the fake machine: code is a number.
type stubs struct {
	made, given, ran int
	fuses            bool
	why              error
	count, moves     int32
	world            *proctest.World
	hit              func(*player, uintptr) bool // of the world
}

// fusing lets handlers be compiled, on a machine where breakpoints run their code as the entry of #BP has it.
func fusing(t *testing.T, w *proctest.World) *stubs {
	if !*trapped {
		t.Skip("only where hits are handled where they arrive")
	}
	memory := make([]uint64, trap.AreaSize/8)
	percpu.Init(unsafe.Pointer(&memory[0]), 1)
	trapping(w)
	s, was, usual := &stubs{fuses: true, world: w}, mach, w.Hit
	t.Cleanup(func() { mach = was; percpu.Init(nil, 0) })
	s.hit = func(p *player, thread uintptr) bool {
		if r := p.Regs(); r.Vector == vecBreakpoint && p.Table != nil && r.Flags&amd64.RFLAGS_TF == 0 {
			x := of(threadOf(p)).text
			if p.Table != unsafe.Pointer(&x.breaks) {
				t.Error("the table is another program's")
			}
			if b := x.points.Find(uintptr(r.IP) - 1); b != nil && b.code.Load() != mach.Known {
				s.ran++
				*(*uint64)(percpu.At(percpu.Offset(s.count), 0))++
				r.IP += uint64(s.moves)
				return true
			}
		}
		return usual(p, thread)
	}
	return s
}

// register registers a probe on the machine.
func (s *stubs) register(t *testing.T, u *Uprobe, p *proc.Process) {
	mach.Known = 1
	mach.Fuses = func() bool { return s.fuses }
	mach.Stub = func(_ attach.Fuser, ip uint64, count, moves int32) (uintptr, func(), error) {
		if s.made++; s.why != nil {
			return 0, nil, s.why
		}
		s.count, s.moves = count, moves
		return uintptr(100 + s.made), func() { s.given++ }, nil
	}
	s.world.Hit = s.hit
	u.Pid = p.PID
	must(t, RegisterUprobe(u))
}

// fused makes a probe with a handler that can be compiled.
func fused(d *diary) (*Uprobe, *fuser) {
	f := &fuser{true}
	u := &Uprobe{Vaddr: textAt, TrapSafe: true, Handler: d.probe("hit")}
	u.Place = &attach.Place{Link: &attach.Link{Options: attach.Options{Fuse: f}}}
	return u, f
}

// TestFused: the first hit makes the code; whatever ends it has ended it when it returns; each hit is counted once.
func TestFused(t *testing.T) {
	w, d := proctest.NewWorld(64<<20, syscalls.Handle), new(diary)
	s := fusing(t, w)
	u, f := fused(d)
	other := &Uprobe{Vaddr: textAt, TrapSafe: true, Handler: func(*Uprobe, *amd64.Regs) {}}
	playedOn(t, w, func(p *proc.Process) {
		other.Pid = p.PID
		s.register(t, u, p)
		if way, _ := u.Way(); way == "fused" || s.made != 0 {
			t.Errorf("before the first hit: %s", way)
		}
	}, func(p *player) {
		execute(p, textAt) // the thread is new
		execute(p, textAt)
		hits := uint64(2)
		run := func(what string, fused bool) {
			t.Helper()
			before := s.ran
			execute(p, textAt)
			hits++
			way, _ := u.Way()
			if l := u.Ledger(); l.Entered != hits || l.Handled != hits || (s.ran > before) != fused || (way == "fused") != fused {
				t.Errorf("%s: %s, %d hits ran the code; %+v, want %d", what, way, s.ran-before, l, hits)
			}
		}
		run("usually", true)
		th := of(threadOf(p))
		x := th.text
		for what, change := range map[string]struct{ end, undo func() }{
			"a second probe":   {func() { must(t, RegisterUprobe(other)) }, func() { must(t, UnregisterUprobe(other)) }},
			"the program held": {func() { f.ready = false; Refit([]*Uprobe{u}) }, func() { f.ready = true; Refit([]*Uprobe{u}) }},
			"another process":  {func() { x.process = nil; Refit(nil) }, func() { x.process = th.t.Process(); Refit(nil) }},
			"the sysctl":       {func() { s.fuses = false; Refit(nil) }, func() { s.fuses = true; Refit(nil) }},
		} {
			change.end()
			run(what, false)
			change.undo()
			run("after "+what, true)
		}
		must(t, DisableUprobe(u))
		if way, _ := u.Way(); way == "fused" {
			t.Error("fused although it is disabled")
		}
		execute(p, textAt)
		must(t, EnableUprobe(u))
		run("enabled again", true)
		if s.made != 1 || s.given != 0 || s.moves != 0 {
			t.Errorf("%+v", s)
		}
		at := percpu.Offset(s.count)
		c := Remove([]*Uprobe{u})
		if len(c.Each) == 0 || s.given != 0 {
			t.Error("no CPU is asked whether it is in the code")
		}
		c.Complete()
		execute(p, textAt)
		if n, err := percpu.NewTally(); s.given != 1 || err != nil || n.At() != at || u.Ledger().Handled != hits {
			t.Errorf("unregistered: %+v, %v; %+v", s, err, u.Ledger())
		}
		must(t, UnregisterUprobe(u))
		if s.given != 1 {
			t.Error("its memory was given back again")
		}
	})
}

// TestPointWithoutProbes: the entry of #BP finds where it goes on before the breakpoint is put in.
func TestPointWithoutProbes(t *testing.T) {
	w := proctest.NewWorld(64<<20, syscalls.Handle)
	s := fusing(t, w)
	u, _ := fused(new(diary))
	playedOn(t, w, func(p *proc.Process) { s.register(t, u, p) }, func(p *player) {
		execute(p, textAt)
		mu.Lock()
		defer mu.Unlock()
		if pt, err := of(threadOf(p)).text.prepare(textAt + 32); err != nil || pt.code.Load() != mach.Known || pt.behind != textAt+33 {
			t.Errorf("%+v, %v", pt, err)
		}
	})
}

// TestNotFused: the handler is called where it cannot be compiled, and the reason is told.
func TestNotFused(t *testing.T) {
	w, d := proctest.NewWorld(64<<20, syscalls.Handle), new(diary)
	s := fusing(t, w)
	s.why = errors.New("of a test")
	u, _ := fused(d)
	playedOn(t, w, func(p *proc.Process) {
		s.register(t, u, p)
	}, func(p *player) {
		for range 4 {
			execute(p, textAt)
		}
		if i := All()[0]; i.Unfit != s.why.Error() || i.Way != "nothing"+InTheTrap || i.Ledger.Handled != 4 || s.made != 1 {
			t.Errorf("%+v, %+v", i, s)
		}
	})
	d.wants(t, "hit", "hit", "hit", "hit")
}

// TestFusedEndsWithTheProcess: the code's memory is given back.
func TestFusedEndsWithTheProcess(t *testing.T) {
	w := proctest.NewWorld(64<<20, syscalls.Handle)
	s := fusing(t, w)
	u, _ := fused(new(diary))
	playedOn(t, w, func(p *proc.Process) {
		s.register(t, u, p)
	}, func(p *player) {
		for range 4 {
			execute(p, textAt)
		}
	})
	if s.made != 1 || s.given != 1 || u.Ledger().Handled != 4 {
		t.Errorf("%+v; %+v", s, u.Ledger())
	}
	must(t, UnregisterUprobe(u))
	if s.given != 1 {
		t.Error("its memory was given back again")
	}
}

// TestFusedNotInAChildOfVfork: it meets the breakpoints, and has no probe.
func TestFusedNotInAChildOfVfork(t *testing.T) {
	const vfork = 58
	w := proctest.NewWorld(64<<20, syscalls.Handle)
	s := fusing(t, w)
	u, _ := fused(new(diary))
	playedOn(t, w, func(p *proc.Process) {
		s.register(t, u, p)
	}, func(p *player) {
		for range 4 {
			execute(p, textAt)
		}
		ran := s.ran
		p.Fork(func(c *player) {
			for range 3 {
				execute(c, textAt)
			}
			if c.Table != nil {
				t.Error("it looks into the table of its parent")
			}
		}, vfork)
		ends(t, p)
		if s.ran != ran || u.Ledger().Entered != 4 {
			t.Errorf("%d hits ran the code; %+v", s.ran-ran, u.Ledger())
		}
	})
}

// TestNoStubWhileARepeatIsInterrupted: any hit ends that, so that it has to be seen.
func TestNoStubWhileARepeatIsInterrupted(t *testing.T) {
	w := proctest.NewWorld(64<<20, syscalls.Handle)
	s := fusing(t, w)
	u, _ := fused(new(diary))
	playedOn(t, w, func(p *proc.Process) {
		s.register(t, u, p)
	}, func(p *player) {
		for range 3 {
			execute(p, textAt)
		}
		th := of(threadOf(p))
		if p.Table == nil {
			t.Error("it has no table")
		}
		th.again = moment{textAt + 16, 1}
		th.looks()
		execute(p, textAt)
		if p.Table == nil || th.again.ip != 0 || u.Ledger().Handled != 4 {
			t.Errorf("%+v; %+v", th.again, u.Ledger())
		}
	})
}
