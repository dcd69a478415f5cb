package uprobes

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"sonde/arch/amd64"
	"sonde/kernel/abi"
	"sonde/linux/proc"
	"sonde/linux/space"
	"sonde/uprobes/place"
)

// What a program without a free page within 4 GiB of its text has: its slots are far away.

const (
	reach  = 4 << 30
	ripLen = 7
	ownSI  = 0x1234 // RSI, which the copy uses instead of RIP
)

// farSlot plays such a program with a probe on MOVQ 0x40(RIP), AX. seen gets its registers when it takes a signal.
func farSlot(t *testing.T, seen func(r *amd64.Regs), f func(p *player, pr *proc.Process, slot uint64)) {
	t.Helper()
	var pr *proc.Process
	u := &Uprobe{Vaddr: at, Handler: func(*Uprobe, *amd64.Regs) {}}
	play(t, func(p *proc.Process) {
		pr, u.Pid = p, p.PID
		write(t, p, at, 0x48, 0x8B, 0x05, 0x40, 0, 0, 0)
		fillUp(t, p.Memory().Space, 0, textAt+reach)
		must(t, register(u))
		p.Attach(&proc.Engine{Signal: func(th *proc.Thread, _ abi.Siginfo) bool {
			seen(th.Regs())
			return true
		}})
	}, func(p *player) {
		p.Regs().SI = ownSI
		slot := execute(p, at)
		if slot != SlotOf(pr, at) || slot < textAt+reach || p.Flags()&amd64.RFLAGS_TF == 0 || p.Regs().SI != at+ripLen {
			t.Errorf("it goes on at %#x, flags %#x, with %#x for the operand", slot, p.Flags(), p.Regs().SI)
		}
		f(p, pr, slot)
		if p.Regs().SI != ownSI {
			t.Errorf("RSI is %#x", p.Regs().SI)
		}
	})
}

// TestNoPageIsNear: an operand that is relative to RIP is addressed by a register, which the program does not see.
func TestNoPageIsNear(t *testing.T) {
	farSlot(t, func(r *amd64.Regs) { t.Errorf("a signal at %#x", r.IP) }, func(p *player, _ *proc.Process, slot uint64) {
		if ip := p.FaultAt(vecDebug, slot+ripLen, stack); ip != at+ripLen || p.Flags()&amd64.RFLAGS_TF != 0 {
			t.Errorf("it goes on at %#x, flags %#x", ip, p.Flags())
		}
	})
}

// TestFaultWhereNoPageIsNear: a signal's frame has the program's register.
func TestFaultWhereNoPageIsNear(t *testing.T) {
	n := 0
	seen := func(ip uint64) func(r *amd64.Regs) {
		return func(r *amd64.Regs) {
			if n++; r.IP != ip || r.SI != ownSI || r.Flags&amd64.RFLAGS_TF != 0 {
				t.Errorf("IP %#x, RSI %#x, flags %#x", r.IP, r.SI, r.Flags)
			}
		}
	}
	farSlot(t, seen(at), func(p *player, _ *proc.Process, slot uint64) { p.FaultAt(protect, slot, stack) })
	farSlot(t, seen(at+ripLen), func(p *player, pr *proc.Process, slot uint64) {
		pr.Send(proc.SignalOf(abi.SIGUSR1))
		if ip := p.FaultAt(interrupt, slot, stack); ip != slot || n != 1 || p.Regs().SI != at+ripLen {
			t.Errorf("it goes on at %#x, %d signals, RSI %#x", ip, n, p.Regs().SI)
		}
		p.FaultAt(vecDebug, slot+ripLen, stack)
	})
	if n != 2 {
		t.Errorf("%d signals", n)
	}
}

// TestFarSlotsAreFew: instructions share the pages that are far away, and what needs no operand near is boosted there.
func TestFarSlotsAreFew(t *testing.T) {
	play(t, func(p *proc.Process) {
		for i := range uint64(4) {
			write(t, p, textAt+8*i, 0x48, 0x8B, 0x05, 0x40, 0, 0, 0, 0x99) // MOVQ 0x40(RIP), AX; CQD
		}
		fillUp(t, p.Memory().Space, 0, textAt+reach)
		for i := range uint64(8) {
			u := &Uprobe{Pid: p.PID, Vaddr: textAt + 8*(i/2) + i%2*ripLen, Handler: func(*Uprobe, *amd64.Regs) {}}
			must(t, register(u))
			want := []place.Way{place.Step, place.Boost}[i%2]
			if way, _ := u.Way(); strings.TrimSuffix(way, " in the trap") != want.String() {
				t.Errorf("instruction %d is %s", i, way)
			}
		}
		rp := &Uretprobe{Handler: func(*UretprobeInstance, *amd64.Regs) {}}
		rp.U.Pid, rp.U.Vaddr = p.PID, textAt
		must(t, registerReturn(rp))
		if n := len(textOf(p.Memory()).slotPages()); n != 1 {
			t.Errorf("%d pages of slots", n)
		}
	}, func(*player) {})
}

// TestSlotsAtTheLimit: a program that has as much as RLIMIT_AS lets it is probed, and may have as much as before.
func TestSlotsAtTheLimit(t *testing.T) {
	play(t, func(p *proc.Process) {
		write(t, p, at, 0x48, 0x89, 0x07)
		mem := p.Memory()
		limit := mem.Usage().Total + space.PageSize
		mem.SetLimits(space.Limits{AS: limit, Data: 1 << 30, Stack: 8 << 20})
		must(t, register(&Uprobe{Pid: p.PID, Vaddr: at, Handler: func(*Uprobe, *amd64.Regs) {}}))
		for _, want := range []error{nil, syscall.ENOMEM} {
			if _, err := mem.Map(0, space.PageSize, space.Read, 0, nil, 0); !errors.Is(err, want) {
				t.Errorf("%v, want %v", err, want)
			}
		}
	}, func(*player) {})
}
