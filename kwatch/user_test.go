package kwatch

import (
	"errors"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"sonde/arch/amd64"
	"sonde/arch/amd64/debugreg"
	"sonde/kernel/abi"
	"sonde/kernel/grace"
	"sonde/kernel/vfs"
	"sonde/linux/proc"
	"sonde/linux/proctest"
	"sonde/linux/space"
	syscalls "sonde/linux/syscall"
)

// reported is the system call with which a test's program has a hit: its argument is DR6.
const reported = 100_000

// TestHitReportedAsAnothers: where several watch one address, QEMU reports the first only, and by
// the time that the program's goroutine looks, that one may be nobody's, another program's, or the
// kernel's. The kernel's used to swallow the hit.
func TestHitReportedAsAnothers(t *testing.T) {
	for what, first := range map[string]func(other *proc.Process) (int, error){
		"nobody's":          func(*proc.Process) (int, error) { return 0, nil },
		"another program's": func(p *proc.Process) (int, error) { return RegisterKwatchUser(p, proctest.Data, 8, Write, ofNobody) },
		"the kernel's":      func(*proc.Process) (int, error) { return RegisterKwatch(0x1000, 8, Write, nothing) },
	} {
		t.Run(what, func(t *testing.T) {
			onFake(t)
			w := proctest.NewWorld(64<<20, func(th *proc.Thread) {
				if r := th.Regs(); r.AX == reported {
					OfThread(th, r.DI)
				} else {
					syscalls.Handle(th)
				}
			})
			hits := 0
			registered, ended := make(chan bool), make(chan bool)
			other := start(t, w, nil, func(*proctest.Player) { <-ended })
			p := start(t, w, func(p *proc.Process) {
				defer close(registered)
				none, err := RegisterKwatch(0x2000, 8, Write, nothing)
				must(t, err)
				reg, err := RegisterKwatchUser(p, proctest.Data, 8, Write, func(*Hit, *proc.Thread) { hits++ })
				must(t, err)
				must(t, UnregisterKwatch(none))
				if _, err := first(other); err != nil || none != 0 || reg != 1 {
					t.Errorf("registers %d and %d, %v", none, reg, err)
				}
			}, func(p *proctest.Player) {
				p.Poke64(proctest.Data, 1)
				p.Call(reported, 1<<0)
			})
			<-registered
			<-p.Done()
			close(ended)
			<-other.Done()
			if hits != 1 {
				t.Errorf("%d hits, want 1", hits)
			}
		})
	}
}

// TestInstructionBehindTheHitIsStillWatched: a program has written what another process watched, and
// is about to execute what it watches itself. By the time that its goroutine looks, the other has put
// an execute watchpoint on that address in the same register. The program used to pass its own.
func TestInstructionBehindTheHitIsStillWatched(t *testing.T) {
	onFake(t)
	const at = proctest.Data
	passes := map[bool]bool{}
	w := proctest.NewWorld(64<<20, func(th *proc.Thread) {
		r := th.Regs()
		if r.AX != reported {
			syscalls.Handle(th)
			return
		}
		was := r.IP
		r.IP = at
		OfThread(th, 1<<0)
		passes[r.DI != 0] = r.Flags&amd64.RFLAGS_RF != 0
		r.IP, r.Flags = was, r.Flags&^amd64.RFLAGS_RF
	})
	registered, ended := make(chan bool), make(chan bool)
	other := start(t, w, nil, func(*proctest.Player) { <-ended })
	reg, err := RegisterKwatchUser(other, at, 1, Execute, ofNobody)
	must(t, err)
	own := 0
	p := start(t, w, func(p *proc.Process) {
		defer close(registered)
		own, err = RegisterKwatchUser(p, at, 1, Execute, ofNobody)
		must(t, err)
	}, func(p *proctest.Player) {
		p.Call(reported, 1)
		must(t, UnregisterKwatch(own))
		p.Call(reported, 0)
	})
	<-registered
	<-p.Done()
	close(ended)
	<-other.Done()
	if reg != 0 || passes[true] || !passes[false] {
		t.Errorf("register %d; it passes with its own watchpoint: %v, without: %v", reg, passes[true], passes[false])
	}
}

// TestDisabledIsNotHit: what another process watches at the address is reported, and this one's watchpoint there is
// disabled, or its handler was abandoned. The program used to be hit by the same instruction for ever, and the handler of
// a disabled one to be called if the memory had changed meanwhile, or if the hit was an earlier one.
func TestDisabledIsNotHit(t *testing.T) {
	for what, off := range map[string]func(t *testing.T, reg int){
		"disabled":  func(t *testing.T, reg int) { must(t, EnableKwatch(reg, false)) },
		"abandoned": func(_ *testing.T, reg int) { points[reg].Load().gone.Store(true) },
	} {
		t.Run(what, func(t *testing.T) {
			onFake(t)
			goesOn := false
			w := proctest.NewWorld(64<<20, func(th *proc.Thread) {
				r := th.Regs()
				if r.AX != reported {
					syscalls.Handle(th)
					return
				}
				was := r.IP
				r.IP = proctest.Data + 8
				OfThread(th, r.DI)
				if r.DI == 1<<0 {
					goesOn = r.Flags&amd64.RFLAGS_RF != 0
				}
				r.IP, r.Flags = was, r.Flags&^amd64.RFLAGS_RF
			})
			hits := 0
			registered, ended := make(chan bool), make(chan bool)
			other := start(t, w, nil, func(*proctest.Player) { <-ended })
			for n, typ := range []Type{Execute, Write} {
				reg, err := RegisterKwatchUser(other, proctest.Data+8-8*uintptr(n), 1, typ, ofNobody)
				if must(t, err); reg != n {
					t.Fatalf("register %d, not %d", reg, n)
				}
			}
			p := start(t, w, func(p *proc.Process) {
				defer close(registered)
				for n, typ := range []Type{Execute, Write} {
					reg, err := RegisterKwatchUser(p, proctest.Data+8-8*uintptr(n), 1, typ, func(*Hit, *proc.Thread) { hits++ })
					must(t, err)
					off(t, reg)
				}
			}, func(p *proctest.Player) {
				p.Call(reported, 1<<0)
				p.Poke64(proctest.Data, 1)
				p.Call(reported, 1<<1)
				p.Call(reported, 1<<3)
			})
			<-registered
			<-p.Done()
			l := points[3].Load().accounts.Ledger()
			close(ended)
			<-other.Done()
			if !goesOn || hits != 0 || l.Entered != 1 || l.Disarmed != 1 {
				t.Errorf("it goes on: %v; %d hits; %+v", goesOn, hits, l)
			}
		})
	}
}

// TestHandlerThatDoesNotReturn: the process can be killed, and the watchpoint unregistered, although a
// handler blocks for ever; one that ends its goroutine ends the process. Both used to wait for it.
func TestHandlerThatDoesNotReturn(t *testing.T) {
	over, unregister := make(chan bool), make(chan bool)
	defer close(over)
	for what, f := range map[string]func(p *proc.Process){
		"blocks while it is unregistered": func(p *proc.Process) {
			close(unregister)
			time.Sleep(10 * time.Millisecond)
			p.Kill(abi.SIGKILL)
			<-over
		},
		"blocks":             func(p *proc.Process) { p.Kill(abi.SIGKILL); <-over },
		"ends its goroutine": func(*proc.Process) { runtime.Goexit() },
		"panics":             func(p *proc.Process) { p.Kill(abi.SIGKILL); panic("of a test") },
	} {
		t.Run(what, func(t *testing.T) {
			onFake(t)
			w := proctest.NewWorld(64<<20, func(th *proc.Thread) { OfThread(th, 1<<0) })
			registered := make(chan int, 1)
			p := start(t, w, func(p *proc.Process) {
				reg, err := RegisterKwatchUser(p, proctest.Data, 8, Write, func(*Hit, *proc.Thread) { f(p) })
				must(t, err)
				registered <- reg
			}, func(p *proctest.Player) {
				p.Poke64(proctest.Data, 1)
				p.Call(reported)
			})
			before := Ended()
			reg := <-registered
			if what == "blocks while it is unregistered" {
				<-unregister
			} else {
				<-p.Done()
			}
			must(t, UnregisterKwatch(reg))
			<-p.Done()
			if s := p.Status(); s.Signal() != abi.SIGKILL {
				t.Errorf("%v", s)
			}
			if l := Ended(); l.Abandoned != before.Abandoned+1 || l.Unexplained() != 0 {
				t.Errorf("%+v, before %+v", l, before)
			}
		})
	}
}

// TestNobodyWatchesWhatIsGone: when a handler was abandoned, no CPU watches for it any more, so that the program is not hit
// again; and probes around an instruction that was watched check again whether they can have a jump.
func TestNobodyWatchesWhatIsGone(t *testing.T) {
	log := onFake(t)
	w := proctest.NewWorld(64<<20, func(th *proc.Thread) {
		if r := th.Regs(); r.AX == reported {
			OfThread(th, r.DI)
		} else {
			syscalls.Handle(th)
		}
	})
	p := start(t, w, func(p *proc.Process) {
		reg, err := RegisterKwatchUser(p, proctest.Data, 8, Write, func(*Hit, *proc.Thread) { panic("of a test") })
		if must(t, err); reg != 0 {
			t.Errorf("register %d", reg)
		}
	}, func(p *proctest.Player) {
		p.Poke64(proctest.Data, 1)
		p.Call(reported, 1<<0)
		mu.Lock()
		defer mu.Unlock()
		if (*log)[len(*log)-1][0].On {
			t.Error("it is watched for")
		}
	})
	<-p.Done()
	var checked []uintptr
	this.recheck = func(addr uintptr) (c grace.Change) { checked = append(checked, addr); return c }
	reg, err := RegisterKwatch(0x3000, 1, Execute, nothing)
	must(t, err)
	points[reg].Load().gone.Store(true)
	if unload(); !slices.Equal(checked, []uintptr{0x3000, 0x3000}) || (*log)[len(*log)-1][reg].On {
		t.Errorf("%#x checked; %+v", checked, (*log)[len(*log)-1])
	}
}

// TestExecWhileRegistering: the process executes another program when the address has been looked up. The new one
// used to be watched at an address that was meant for the old one.
func TestExecWhileRegistering(t *testing.T) {
	log := onFake(t)
	var w *proctest.World
	w = proctest.NewWorld(64<<20, func(th *proc.Thread) {
		if th.Regs().AX != reported {
			syscalls.Handle(th)
			return
		}
		at := userPoint(th.Process(), proctest.Data, 8, Write, ofNobody)
		must(t, there(th.Process(), at, false))
		next, err := w.Image("next", func(*proctest.Player) {})
		must(t, err)
		must(t, th.Exec(next))
		reg, err := register(at)
		must(t, err)
		if !at.gone.Load() || slices.ContainsFunc(*log, func(s debugreg.Set) bool { return s[reg].On }) {
			t.Errorf("the new program is watched: %v", *log)
		}
		must(t, UnregisterKwatch(reg))
	})
	p := start(t, w, nil, func(p *proctest.Player) { p.Call(reported) })
	<-p.Done()
}

func ofNobody(*Hit, *proc.Thread) {}

// start starts a program that begins when ready, if any, has been called.
func start(t *testing.T, w *proctest.World, ready func(*proc.Process), f proctest.Program) *proc.Process {
	t.Helper()
	img, err := w.Image("test", f)
	must(t, err)
	files, err := syscalls.NewFiles(vfs.Root.RootPlace())
	must(t, err)
	p, err := w.Table.Start(proc.Spec{Image: img, Resources: files, Ready: ready})
	must(t, err)
	return p
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestMappedLater: what is not mapped yet can be watched if that is asked for, and is hit when it is there.
func TestMappedLater(t *testing.T) {
	log := onFake(t)
	const later = 0x100000
	hits := 0
	registered := make(chan bool)
	w := proctest.NewWorld(64<<20, func(th *proc.Thread) {
		if r := th.Regs(); r.AX == reported {
			OfThread(th, r.DI)
		} else {
			syscalls.Handle(th)
		}
	})
	p := start(t, w, func(p *proc.Process) {
		defer close(registered)
		at := userPoint(p, later, 8, Write, func(h *Hit, _ *proc.Thread) {
			if hits++; h.Old != 0 || h.New != 7 {
				t.Errorf("%d became %d", h.Old, h.New)
			}
		})
		if err := there(p, at, false); !errors.Is(err, syscall.EFAULT) {
			t.Errorf("without being asked for: %v", err)
		}
		must(t, there(p, at, true))
		reg, err := register(at)
		must(t, err)
		if set := (*log)[len(*log)-1][reg]; !set.On || set.Addr != later {
			t.Errorf("%+v", set)
		}
	}, func(p *proctest.Player) {
		if _, err := p.Space.Map(later, 4096, space.Read|space.Write, space.Fixed, nil, 0); err != nil {
			t.Error(err)
		}
		p.Poke64(later, 7)
		p.Call(reported, 1<<0)
	})
	<-registered
	<-p.Done()
	if hits != 1 {
		t.Errorf("%d hits, want 1", hits)
	}
}
