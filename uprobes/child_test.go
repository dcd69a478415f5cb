package uprobes

import (
	"errors"
	"syscall"
	"testing"

	"sonde/arch/amd64"
	"sonde/kernel/vfs"
	"sonde/linux/proc"
	"sonde/linux/proctest"
	"sonde/linux/space"
	syscalls "sonde/linux/syscall"
	"sonde/probe/ledger"
	"sonde/uprobes/place"
)

// ends waits for the child of p, which has to come to its end.
func ends(t *testing.T, p *player) {
	t.Helper()
	status := uint64(proctest.Data)
	for p.Call(wait4, ^uint64(0), status, 0, 0) < 0 {
	}
	if s := p.Peek32(status); s != 0 {
		t.Errorf("the child ends with status %#x", s)
	}
}

// TestChildOfVforkMeetsBreakpoints: it has the memory of its parent, but none of its probes.
func TestChildOfVforkMeetsBreakpoints(t *testing.T) {
	const vfork = 58
	d := new(diary)
	u := &Uprobe{Vaddr: textAt, Handler: d.probe("hit")}
	play(t, func(p *proc.Process) {
		u.Pid = p.PID
		must(t, register(u))
	}, func(p *player) {
		p.Fork(func(c *player) {
			c.Call(39)
			if ip := execute(c, textAt); ip != textAt+1 {
				t.Errorf("the child goes on at %#x", ip)
			}
		}, vfork)
		ends(t, p)
		execute(p, textAt)
	})
	d.wants(t, "hit")
}

// TestChildReturns: a child of fork returns to the trampoline, as its parent does, and
// where that was the handler is called, also of calls that are one in the other.
func TestChildReturns(t *testing.T) {
	d := new(diary)
	rp := &Uretprobe{Handler: func(ri *UretprobeInstance, _ *amd64.Regs) { d.add("%#x", ri.RetAddr) }}
	play(t, func(p *proc.Process) {
		rp.U.Pid, rp.U.Vaddr = p.PID, textAt
		must(t, registerReturn(rp))
	}, func(p *player) {
		both := func(p *player) {
			for i, sp := range []uint64{stack - 0x20, stack} {
				if to, want := leave(p, sp), textAt+2-uint64(i); to != want {
					t.Errorf("it returns to %#x, not %#x", to, want)
				}
			}
		}
		enter(p, stack, textAt+1)
		enter(p, stack-0x20, textAt+2)
		p.Fork(func(c *player) {
			c.Call(39)
			both(c)
		}, fork)
		ends(t, p)
		both(p)
	})
	d.wants(t, "0x700002", "0x700001")
	if l := rp.U.Ledger(); l.Entered != 2 || l.Handled != 2 || l.Unexplained() != 0 {
		t.Errorf("%+v", l)
	}
}

// TestChildWithoutRoom: a child of fork whose parent's calls cannot be noted once more has their return
// addresses in its memory.
func TestChildWithoutRoom(t *testing.T) {
	const room = 4
	noted.Store(mostCalls - room)
	defer noted.Store(0)
	rp, s := playReturns(t, func(*UretprobeInstance, *amd64.Regs) {}, func(p *player) {
		enter(p, stack, textAt+1)
		enter(p, stack-0x20, textAt+2)
		p.Fork(func(c *player) {
			c.Call(39)
			for i, sp := range []uint64{stack - 0x20, stack} {
				if to, want := c.Peek64(sp), textAt+2-uint64(i); to != want {
					t.Errorf("%#x is in its memory, not %#x", to, want)
				}
			}
		}, fork)
		ends(t, p)
		leave(p, stack-0x20)
		leave(p, stack)
	})
	if l := rp.U.Ledger(); s != 0 || l != (ledger.Ledger{Entered: 2, Handled: 2}) {
		t.Errorf("status %#x, %+v", s, l)
	}
	if n := noted.Load(); n != mostCalls-room {
		t.Errorf("room for %d calls is taken", n-(mostCalls-room))
	}
}

// TestChildOfACoroutine: a coroutine forks, after its parent's stack was used: its call is counted
// as one that will not return, but in the child it does.
func TestChildOfACoroutine(t *testing.T) {
	const other = stack - 0x800
	rp := &Uretprobe{Handler: func(*UretprobeInstance, *amd64.Regs) {}}
	play(t, func(p *proc.Process) {
		rp.U.Pid, rp.U.Vaddr = p.PID, textAt
		must(t, registerReturn(rp))
	}, func(p *player) {
		both := func(p *player) {
			if to := leave(p, other); to != textAt+2 {
				t.Errorf("the coroutine's call returns to %#x", to)
			}
			if to := leave(p, stack); to != textAt+1 {
				t.Errorf("the other call returns to %#x", to)
			}
		}
		enter(p, other, textAt+2)
		enter(p, stack, textAt+1)
		p.Fork(func(c *player) {
			c.Call(39)
			both(c)
		}, fork)
		ends(t, p)
		both(p)
	})
	if l := rp.U.Ledger(); l != (ledger.Ledger{Entered: 2, Handled: 2}) {
		t.Errorf("%+v", l)
	}
}

// TestChildThatIsFoundFirst: a registration finds the child before the parent tells of it, as one
// by file may. The child used to know nothing of the calls that its stack has, and was killed by
// a SIGTRAP when it returned to the trampoline.
func TestChildThatIsFoundFirst(t *testing.T) {
	const vfork = 58
	for _, call := range []uint64{fork, vfork} {
		rp := &Uretprobe{Handler: func(*UretprobeInstance, *amd64.Regs) {}}
		late := &Uretprobe{Handler: func(*UretprobeInstance, *amd64.Regs) {}}
		slots := 0
		first := &proc.Engine{Clone: func(parent, child *proc.Thread, _ uint64) {
			late.U.Pid, late.U.Vaddr = child.Process().PID, textAt+4
			must(t, registerReturn(late))
			if call == fork { // what comes to the parent now, the child has not got
				mu.Lock()
				defer mu.Unlock()
				err := textOf(parent.Memory()).mapSlots(0, 0)
				must(t, err)
				slots = len(textOf(parent.Memory()).slotPages())
			}
		}}
		play(t, func(p *proc.Process) {
			p.Attach(first)
			rp.U.Pid, rp.U.Vaddr = p.PID, textAt
			must(t, registerReturn(rp))
		}, func(p *player) {
			enter(p, stack, textAt+1)
			to := p.Peek64(stack)
			p.Fork(func(c *player) {
				pid := c.Call(39)
				c.Poke64(stack-0x40, textAt+9)
				c.Breakpoint(textAt+4, stack-0x40)
				if to := leave(c, stack-0x40); to != textAt+9 {
					t.Errorf("call %d: the child's own call returns to %#x", call, to)
				}
				if to := leave(c, stack); to != textAt+1 {
					t.Errorf("call %d: the child returns to %#x", call, to)
				}
				child, err := c.World.Table.Find(int(pid))
				must(t, err)
				mu.Lock()
				defer mu.Unlock()
				for _, s := range textOf(child.Memory()).slotPages() {
					if !child.Memory().Maps(s.at, s.page) {
						t.Errorf("call %d: the child does not have the slots at %#x", call, s.at)
					}
				}
			}, call)
			ends(t, p)
			p.Poke64(stack, to) // as vfork does, whose child has used the stack
			leave(p, stack)
		})
		if l := late.U.Ledger(); l.Entered != 1 || l.Handled != 1 || rp.U.Ledger().Handled != 1 || call == fork && slots != 2 {
			t.Errorf("call %d: %+v, %+v, %d pages of slots", call, l, rp.U.Ledger(), slots)
		}
	}
}

// TestChildUsesItsParentsSlots: a program that forks often and is probed by its file would
// have another page of them for each child.
func TestChildUsesItsParentsSlots(t *testing.T) {
	Force(place.Boost)
	defer Force(place.Refused)
	us := [2]*Uprobe{}
	slotIn := func(i int, p *proc.Process) uint64 {
		us[i] = &Uprobe{Pid: p.PID, Vaddr: at, Handler: func(*Uprobe, *amd64.Regs) {}}
		must(t, register(us[i]))
		return SlotOf(p, at)
	}
	var pr *proc.Process
	var first uint64
	play(t, func(p *proc.Process) {
		pr = p
		must(t, p.Memory().Out(at, []byte{0x48, 0x89, 0x07}))
		first = slotIn(0, p)
	}, func(p *player) {
		p.Fork(func(c *player) {
			child, err := c.World.Table.Find(int(c.Call(39)))
			must(t, err)
			if next := slotIn(1, child); next/space.PageSize != first/space.PageSize || next == first {
				t.Errorf("the parent's slot is at %#x, the child's at %#x", first, next)
			}
		}, fork)
		ends(t, p)
		mu.Lock()
		defer mu.Unlock()
		if n := textOf(pr.Memory()).slotPages()[0].page.holds.Load(); n != 2 {
			t.Errorf("the page has %d holds, not one of the space and one of what is probed", n)
		}
	})
}

// TestExecUnregisters: before the other program runs.
func TestExecUnregisters(t *testing.T) {
	u := &Uprobe{Vaddr: textAt, Handler: func(*Uprobe, *amd64.Regs) {}}
	execed := false
	play(t, func(p *proc.Process) {
		u.Pid = p.PID
		must(t, register(u))
	}, func(p *player) {
		execNext(t, p, func(*player) {
			execed = true
			if err := EnableUprobe(u); !errors.Is(err, syscall.EINVAL) || len(All()) != 0 {
				t.Errorf("%v, %d probes", err, len(All()))
			}
		})
	})
	if !execed {
		t.Error("the other program has not run")
	}
}

// execNext makes p run another program; it does not return.
func execNext(t *testing.T, p *player, f proctest.Program) {
	const execve = 59
	w, root := p.World, vfs.Root.RootPlace()
	must(t, vfs.Root.MakeFileAt(root, "/next", 0o755))
	t.Cleanup(func() { vfs.Root.UnlinkAt(root, "/next") })
	w.Install("/next", f)
	syscalls.SetLoader(func(p syscalls.Program) (proc.Image, error) { return w.Exec(p.Path) })
	p.PokeString(proctest.Data, "/next")
	p.Call(execve, proctest.Data, 0, 0)
}
