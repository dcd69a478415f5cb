package uprobes

import (
	"testing"

	"sonde/arch/amd64"
	"sonde/kernel/abi"
	"sonde/linux/proc"
	"sonde/uprobes/place"
)

const (
	at        = textAt + 16 // of an instruction that runs as a copy
	size      = 3
	interrupt = 32
	protect   = amd64.VEC_GP
)

// inSlot plays a program with a probe on MOV %RAX,(%RDI), whose copy runs by a way. seen
// gets IP and flags when it takes a signal.
func inSlot(t *testing.T, way place.Way, seen func(ip, flags uint64), f func(p *player, pr *proc.Process, slot uint64)) proc.Status {
	t.Helper()
	Force(way)
	defer Force(place.Refused)
	var pr *proc.Process
	u := &Uprobe{Vaddr: at, Handler: func(*Uprobe, *amd64.Regs) {}}
	return played(t, func(p *proc.Process) {
		pr, u.Pid = p, p.PID
		must(t, p.Memory().Out(at, []byte{0x48, 0x89, 0x07}))
		must(t, register(u))
		p.Attach(&proc.Engine{Signal: func(th *proc.Thread, _ abi.Siginfo) bool {
			seen(th.Regs().IP, th.Regs().Flags)
			return true
		}})
	}, func(p *player) {
		slot := execute(p, at)
		if slot == at || slot == at+size || slot != SlotOf(pr, at) {
			t.Errorf("it goes on at %#x", slot)
		}
		f(p, pr, slot)
	})
}

func noSignal(t *testing.T) func(ip, flags uint64) {
	return func(ip, _ uint64) { t.Errorf("a signal at %#x", ip) }
}

// TestStepIsOver: the #DB behind the copy is not the program's, and TF is not seen.
func TestStepIsOver(t *testing.T) {
	inSlot(t, place.Step, noSignal(t), func(p *player, _ *proc.Process, slot uint64) {
		if p.Flags()&amd64.RFLAGS_TF == 0 {
			t.Error("it is not stepped")
		}
		if ip := p.FaultAt(vecDebug, slot+size, stack); ip != at+size || p.Flags()&amd64.RFLAGS_TF != 0 {
			t.Errorf("it goes on at %#x, flags %#x", ip, p.Flags())
		}
	})
}

// TestFaultInSlot: the program sees its exception at the instruction.
func TestFaultInSlot(t *testing.T) {
	for _, way := range []place.Way{place.Step, place.Boost} {
		n := 0
		inSlot(t, way, func(ip, flags uint64) {
			if n++; ip != at || flags&amd64.RFLAGS_TF != 0 {
				t.Errorf("%v: IP %#x, flags %#x", way, ip, flags)
			}
		}, func(p *player, _ *proc.Process, slot uint64) {
			p.FaultAt(protect, slot, stack)
		})
		if n != 1 {
			t.Errorf("%v: %d signals", way, n)
		}
	}
}

// TestSignalWaitsForStep: a signal comes when the copy is about to be executed. It is taken
// behind the instruction, and sees it as the program has it.
func TestSignalWaitsForStep(t *testing.T) {
	for _, way := range []place.Way{place.Step, place.Boost} {
		n := 0
		inSlot(t, way, func(ip, flags uint64) {
			if n++; ip != at+size || flags&amd64.RFLAGS_TF != 0 {
				t.Errorf("%v: IP %#x, flags %#x", way, ip, flags)
			}
		}, func(p *player, pr *proc.Process, slot uint64) {
			pr.Send(proc.SignalOf(abi.SIGUSR1))
			if ip := p.FaultAt(interrupt, slot, stack); ip != slot || n != 0 || p.Flags()&amd64.RFLAGS_TF == 0 {
				t.Errorf("%v: it goes on at %#x, flags %#x, %d signals", way, ip, p.Flags(), n)
			}
			if ip := p.FaultAt(vecDebug, slot+size, stack); ip != at+size || n != 1 {
				t.Errorf("%v: then at %#x, %d signals", way, ip, n)
			}
		})
	}
}

// TestSignalBehindCopy: the copy has been executed, the jump behind it not.
func TestSignalBehindCopy(t *testing.T) {
	n := 0
	inSlot(t, place.Boost, func(ip, _ uint64) {
		if n++; ip != at+size {
			t.Errorf("IP %#x", ip)
		}
	}, func(p *player, pr *proc.Process, slot uint64) {
		pr.Send(proc.SignalOf(abi.SIGUSR1))
		if ip := p.FaultAt(interrupt, slot+size, stack); ip != at+size || n != 1 {
			t.Errorf("it goes on at %#x, %d signals", ip, n)
		}
	})
}
