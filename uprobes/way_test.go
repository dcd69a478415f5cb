package uprobes

import (
	"errors"
	"syscall"
	"testing"

	"sonde/arch/amd64"
	"sonde/arch/amd64/prologue"
	"sonde/kernel/abi"
	"sonde/linux/proc"
	"sonde/linux/proctest"
	"sonde/linux/space"
	"sonde/uprobes/place"
)

// write changes the program's text at addr.
func write(t *testing.T, p *proc.Process, addr uint64, code ...byte) {
	t.Helper()
	must(t, p.Memory().Out(addr, code))
}

// wayOf returns how the instruction of u gets done.
func wayOf(u *Uprobe) place.Way {
	mu.Lock()
	defer mu.Unlock()
	return u.state.Load().point.plan.Way
}

// TestSlotOfOtherCode: a place that is probed again has got other code meanwhile. What is in
// the slot of the first must not be executed for it.
func TestSlotOfOtherCode(t *testing.T) {
	Force(place.Boost)
	defer Force(place.Refused)
	var pr *proc.Process
	u := &Uprobe{Vaddr: at, Handler: func(*Uprobe, *amd64.Regs) {}}
	play(t, func(p *proc.Process) { pr, u.Pid = p, p.PID }, func(p *player) {
		var slots []uint64
		for _, code := range [][]byte{{0x48, 0x89, 0x07}, {0x48, 0x89, 0x0f}} { // MOVQ AX, (DI); MOVQ CX, (DI)
			write(t, pr, at, code...)
			must(t, register(u))
			slot := execute(p, at)
			if got := p.Peek(slot, len(code)); string(got) != string(code) {
				t.Errorf("for % x it executes % x", code, got)
			}
			slots = append(slots, slot)
			must(t, UnregisterUprobe(u))
		}
		if slots[0] == slots[1] {
			t.Error("a thread that is in the first finds the second")
		}
	})
}

// TestWithoutASlot: there is no room for one more in all of the address space. What is emulated needs none, all else
// is refused.
func TestWithoutASlot(t *testing.T) {
	first := &Uprobe{Vaddr: at, Handler: func(*Uprobe, *amd64.Regs) {}}
	jump := &Uprobe{Vaddr: textAt, Handler: first.Handler}
	store := &Uprobe{Vaddr: textAt + 2, Handler: first.Handler}
	play(t, func(p *proc.Process) {
		for _, u := range []*Uprobe{first, jump, store} {
			u.Pid = p.PID
		}
		write(t, p, at, 0x48, 0x89, 0x07)
		write(t, p, textAt, 0xEB, 0x10, 0x48, 0x89, 0x07) // JMP +16; MOVQ AX, (DI)
		must(t, register(first))
		mu.Lock()
		textOf(p.Memory()).slotPages()[0].page.next = slotsPerPage
		mu.Unlock()
		fillUp(t, p.Memory().Space, 0, p.Memory().Top())
		must(t, register(jump))
		if err := register(store); !errors.Is(err, syscall.ENOMEM) {
			t.Errorf("MOV: %v", err)
		}
	}, func(p *player) {
		if ip := execute(p, textAt); ip != textAt+2+16 {
			t.Errorf("it goes on at %#x", ip)
		}
	})
}

// fillUp reserves all free addresses in [lo,hi).
func fillUp(t *testing.T, s *space.Space, lo, hi uint64) {
	t.Helper()
	for lo = max(lo, 0x10000); lo < hi; {
		end, next := hi, hi
		for _, a := range s.Areas() {
			if a.End > lo && a.Start < hi {
				end, next = max(a.Start, lo), a.End
				break
			}
		}
		if end > lo {
			_, err := s.Map(lo, end-lo, 0, space.Fixed|space.NoReserve, nil, 0)
			must(t, err)
		}
		lo = next
	}
}

// TestPostHandlerOfACopy: the instruction would run as a copy, which nobody sees the end of.
func TestPostHandlerOfACopy(t *testing.T) {
	var k *KprobeUser
	d := new(diary)
	play(t, func(p *proc.Process) {
		write(t, p, at, 0x48, 0x89, 0x07)
		f, vma, err := PlaceOf(p, at)
		must(t, err)
		k = &KprobeUser{
			PreHandler:  func(*KprobeUser, *amd64.Regs) int { d.add("pre"); return 0 },
			PostHandler: func(_ *KprobeUser, r *amd64.Regs, _ uint64) { d.add("post %#x", r.IP) },
			User:        &UserPlace{Inode: inodeOf(vma.Ident), Offset: at - vma.Start + vma.Offset, Addr: at, Page: f, VMA: vma},
		}
		must(t, RegisterKprobeUser(k))
		must(t, InsertKprobeUserspace(k))
	}, func(p *player) {
		slot := execute(p, at)
		if p.Flags()&amd64.RFLAGS_TF == 0 {
			t.Error("it is not stepped")
		}
		p.FaultAt(vecDebug, slot+size, stack)
		must(t, RemoveKprobeUser(k))
		must(t, UnregisterKprobeUser(k))
	})
	d.wants(t, "pre", "post 0x700013")
}

// TestFaultOfAnEmulatedInstruction: the handler of the signal sees the exception that the instruction causes,
// not the breakpoint in its place.
func TestFaultOfAnEmulatedInstruction(t *testing.T) {
	const rtSigaction, nowhere = 13, 0x10
	u := &Uprobe{Vaddr: at, Handler: func(*Uprobe, *amd64.Regs) {}}
	play(t, func(p *proc.Process) {
		u.Pid = p.PID
		write(t, p, at, 0xff, 0x24, 0x25, nowhere, 0, 0, 0) // JMP [nowhere]
		must(t, register(u))
	}, func(p *player) {
		a := abi.Sigaction{Handler: p.World.Handler(func(*player, uint64, uint64, uint64) {}), Flags: abi.SA_SIGINFO | abi.SA_RESTORER, Restorer: proctest.Restorer}
		p.Poke(proctest.Data, abi.Bytes(&a))
		p.Call(rtSigaction, abi.SIGSEGV, proctest.Data, 0, 8)
		if ip := p.Breakpoint(at, stack); ip != a.Handler {
			t.Fatalf("it goes on at %#x", ip)
		}
		var f abi.Sigframe
		copy(abi.Bytes(&f), p.Peek(p.Regs().SP, len(abi.Bytes(&f))))
		if c := &f.Context.Context; c.IP != at || c.Trapno != amd64.VEC_PF || c.Err != 4 || c.CR2 != nowhere {
			t.Errorf("IP %#x, exception %d, error %#x, address %#x", c.IP, c.Trapno, c.Err, c.CR2)
		}
	})
}

// rep plays a program with a probe on REP MOVSB, which repeats itself.
func rep(t *testing.T, f func(p *player, pr *proc.Process, slot uint64, hits *int)) {
	t.Helper()
	hits, signals := 0, 0
	var pr *proc.Process
	u := &Uprobe{Vaddr: at, Handler: func(*Uprobe, *amd64.Regs) { hits++ }}
	play(t, func(p *proc.Process) {
		pr, u.Pid = p, p.PID
		write(t, p, at, 0xf3, 0xa4)
		must(t, register(u))
		p.Attach(&proc.Engine{Signal: func(*proc.Thread, abi.Siginfo) bool { signals++; return true }})
	}, func(p *player) {
		f(p, pr, execute(p, at), &hits)
		if signals != 1 {
			t.Errorf("%d signals", signals)
		}
	})
}

// TestSignalInARepeatedInstruction: the program goes on with what is left of it, and that is no
// hit. The same instruction of another call is one.
func TestSignalInARepeatedInstruction(t *testing.T) {
	rep(t, func(p *player, pr *proc.Process, slot uint64, hits *int) {
		pr.Send(proc.SignalOf(abi.SIGUSR1))
		if ip := p.FaultAt(interrupt, slot, stack); ip != at {
			t.Errorf("the signal comes at %#x", ip)
		}
		if ip := p.Breakpoint(at, stack); ip != slot || *hits != 1 {
			t.Errorf("it goes on at %#x, %d hits", ip, *hits)
		}
		if p.Breakpoint(at, stack); *hits != 2 {
			t.Errorf("%d hits when it is executed again", *hits)
		}
	})
	rep(t, func(p *player, pr *proc.Process, slot uint64, hits *int) {
		pr.Send(proc.SignalOf(abi.SIGUSR1))
		p.FaultAt(interrupt, slot, stack)
		if p.Breakpoint(at, stack-0x100); *hits != 2 {
			t.Errorf("%d hits: the signal's handler executes it, too", *hits)
		}
	})
}

// TestRepeatedInstructionOfAProgramThatSteps: the program steps itself. It is one hit, and one
// signal.
func TestRepeatedInstructionOfAProgramThatSteps(t *testing.T) {
	rep(t, func(p *player, _ *proc.Process, slot uint64, hits *int) {
		p.Regs().Flags |= amd64.RFLAGS_TF
		p.Breakpoint(at, stack)
		for range 3 {
			if ip := p.FaultAt(vecDebug, slot, stack); ip != slot {
				t.Errorf("it goes on at %#x", ip)
				return
			}
		}
		if ip := p.FaultAt(vecDebug, slot+2, stack); ip != at+2 || *hits != 2 {
			t.Errorf("it goes on at %#x, %d hits", ip, *hits)
		}
	})
}

// TestPointInAStackCheck: what a Go function begins with is decided when it is hit, unless
// another probe is within.
func TestPointInAStackCheck(t *testing.T) {
	code := []byte{0x4c, 0x8d, 0x64, 0x24, 0x80, 0x4d, 0x3b, 0x66, 0x10, 0x76, 0x20} // LEAQ -128(SP), R12; CMPQ R12, 16(R14); JLS
	d := new(diary)
	entry, inside := &Uprobe{Vaddr: textAt, Handler: d.probe("entry")}, &Uprobe{Vaddr: textAt + 5, Handler: d.probe("inside")}
	play(t, func(p *proc.Process) {
		entry.Pid, inside.Pid = p.PID, p.PID
		write(t, p, textAt, code...)
		must(t, register(entry))
		mu.Lock()
		entry.state.Load().point.check = prologue.Find(code) // as if it was a file of Go's
		mu.Unlock()
	}, func(p *player) {
		p.Poke64(stack+0x100, stack-0x1000) // the stack's limit
		p.Regs().R14 = stack + 0x100 - stackGuard
		if ip := p.Breakpoint(textAt, stack); ip != textAt+9 || p.Regs().R12 != stack-128 {
			t.Errorf("it goes on at %#x, R12 %#x", ip, p.Regs().R12)
		}
		must(t, register(inside))
		if ip := p.Breakpoint(textAt, stack); ip == textAt+9 {
			t.Error("the probe inside is passed by")
		}
		must(t, UnregisterUprobe(inside))
		p.Poke64(stack+0x100, stack) // there is no room: it begins again, and that is the hit
		if ip := p.Breakpoint(textAt, stack); ip != textAt+9 || p.Flags()&amd64.RFLAGS_CF == 0 {
			t.Errorf("it goes on at %#x, flags %#x", ip, p.Flags())
		}
	})
	d.wants(t, "entry", "entry")
}

// TestRegisteredTwice is refused, and changes nothing.
func TestRegisteredTwice(t *testing.T) {
	d := new(diary)
	u := &Uprobe{Vaddr: textAt, Handler: d.probe("hit")}
	play(t, func(p *proc.Process) {
		u.Pid = p.PID
		must(t, register(u))
		if err := register(u); !errors.Is(err, syscall.EBUSY) || len(All()) != 1 {
			t.Errorf("%v, %d probes", err, len(All()))
		}
	}, func(p *player) { execute(p, textAt) })
	d.wants(t, "hit")
}

// TestHandlerTakesOver: the program goes on where a handler wants it, and the instruction is
// left out.
func TestHandlerTakesOver(t *testing.T) {
	u := &Uprobe{Vaddr: at, Handler: func(_ *Uprobe, r *amd64.Regs) { r.IP = textAt + 40 }}
	play(t, func(p *proc.Process) {
		u.Pid = p.PID
		write(t, p, at, 0x48, 0x89, 0x07)
		must(t, register(u))
	}, func(p *player) {
		if ip := execute(p, at); ip != textAt+40 {
			t.Errorf("it goes on at %#x", ip)
		}
	})
}
