package uprobes

import (
	"syscall"
	"testing"

	"sonde/arch/amd64"
	"sonde/linux/proc"
	"sonde/uprobes/place"
)

// playReturns plays a program with a return probe on its function at textAt.
func playReturns(t *testing.T, handler func(*UretprobeInstance, *amd64.Regs), f func(p *player)) (*Uretprobe, proc.Status) {
	t.Helper()
	rp := &Uretprobe{Handler: handler}
	s := played(t, func(p *proc.Process) {
		rp.U.Pid, rp.U.Vaddr = p.PID, textAt
		must(t, registerReturn(rp))
	}, f)
	return rp, s
}

// TestReturnKeepsAllRegisters: those too that SYSCALL loses, and what a handler makes of
// them.
func TestReturnKeepsAllRegisters(t *testing.T) {
	var seen amd64.Regs
	_, s := playReturns(t, func(_ *UretprobeInstance, r *amd64.Regs) {
		seen = *r
		r.R11++
	}, func(p *player) {
		r := p.Regs()
		r.AX, r.CX, r.R11, r.Flags = 0x11, 0x22, 0x33, 0x202|amd64.RFLAGS_ZF
		enter(p, stack, textAt+7)
		if ip := leave(p, stack); ip != textAt+7 || r.SP != stack+8 {
			t.Errorf("it goes on at %#x with SP %#x", ip, r.SP)
		}
		if r.AX != 0x11 || r.CX != 0x22 || r.R11 != 0x34 || r.Flags != 0x202|amd64.RFLAGS_ZF {
			t.Errorf("AX %#x CX %#x R11 %#x flags %#x", r.AX, r.CX, r.R11, r.Flags)
		}
	})
	if seen.CX != 0x22 || seen.R11 != 0x33 || seen.SP != stack+8 || seen.IP != textAt+7 || s != 0 {
		t.Errorf("the handler sees CX %#x R11 %#x SP %#x IP %#x; status %#x", seen.CX, seen.R11, seen.SP, seen.IP, s)
	}
}

// TestInterruptedTrampoline: a signal, or a fault of a push, finds IP in it. The thread has
// returned then, with the stack pointer as RET has left it.
func TestInterruptedTrampoline(t *testing.T) {
	returns := 0
	_, s := playReturns(t, func(*UretprobeInstance, *amd64.Regs) { returns++ }, func(p *player) {
		for _, c := range []struct{ off, down uint64 }{{0, 0}, {1, 8}, {3, 16}} {
			enter(p, stack, textAt+7)
			at := p.Peek64(stack)
			r := p.Regs()
			if p.FaultAt(6, at+c.off, stack+8-c.down); r.IP != textAt+7 || r.SP != stack+8 {
				t.Errorf("from %#x it goes on at %#x with SP %#x", c.off, r.IP, r.SP)
			}
		}
	})
	if returns != 3 || s != 0 {
		t.Errorf("%d returns, status %#x", returns, s)
	}
}

// TestSyscallElsewhereIsOne: only that of the trampoline is a return, and only where a call is
// to return there.
func TestSyscallElsewhereIsOne(t *testing.T) {
	const getpid = 39
	made := false
	_, s := playReturns(t, func(*UretprobeInstance, *amd64.Regs) { t.Error("nothing has returned") }, func(p *player) {
		enter(p, stack, textAt+7)
		at := p.Peek64(stack)
		r := p.Regs()
		if r.AX = getpid; p.SyscallAt(textAt+9, stack) != textAt+9 || r.AX == getpid {
			t.Errorf("no system call was made: %#x at %#x", r.AX, r.IP)
		}
		made = true // it is not killed here
		p.SyscallAt(at+uint64(len(place.Trampoline)), stack-0x200)
		p.Call(getpid)
	})
	if !made || s.Signal() != int(syscall.SIGTRAP) {
		t.Errorf("system call made %v; a jump into the trampoline ends with status %#x", made, s)
	}
}

// TestReturnsAllocateNothing, once there has been one.
func TestReturnsAllocateNothing(t *testing.T) {
	playReturns(t, func(*UretprobeInstance, *amd64.Regs) {}, func(p *player) {
		r := p.Regs()
		n := testing.AllocsPerRun(100, func() {
			_, err := p.Space.SwapWord(stack, textAt+7)
			must(t, err)
			p.Breakpoint(textAt, stack)
			at, err := p.Space.LoadWord(stack)
			must(t, err)
			p.SyscallAt(at+uint64(len(place.Trampoline)), stack-8)
			if r.IP != textAt+7 {
				t.Errorf("it goes on at %#x", r.IP)
			}
		})
		if n != 0 {
			t.Errorf("%v allocations for a call and its return", n)
		}
	})
}
