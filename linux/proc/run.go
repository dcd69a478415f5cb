package proc

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"sonde/arch/amd64"
	"sonde/kernel/abi"
)

// run is a thread's life.
func (t *Thread) run() {
	deepen()
	t.makeCurrent()
	debug.SetPanicOnFault(true) // a wild pointer in a call, or in a probe's handler, ends no more than that
	ended := false
	defer t.depart(&ended)
	for !t.steps() {
	}
	ended = true
}

// deepen makes the goroutine's stack large enough for most calls at once: it would grow
// three times otherwise, and be copied each time.
//
//go:noinline
func deepen() {
	var room [6 << 10]byte
	runtime.KeepAlive(&room)
}

// steps runs the program until the thread must end. It returns false after a panic, which
// ends the process, not the machine.
func (t *Thread) steps() (ended bool) {
	defer t.catch()
	for {
		if t.work.Load() && !t.ready() {
			return true
		}
		switch ev := t.cpu.Run(t.Memory().Space); {
		case ev == SystemCall:
			t.SystemCall()
		case ev == amd64.VEC_BP:
			if !t.tellException(amd64.VEC_BP) {
				t.Raise(amd64.VEC_BP)
			}
		case ev < 32:
			t.exception(int(ev))
		default: // an interrupt, or it is to wait: others may have become runnable
			runtime.Gosched()
		}
	}
}

// SystemCall makes the system call that the registers describe, with IP after the
// instruction. An engine calls it in Exception instead of letting the program execute
// SYSCALL.
//
// Context: t's goroutine.
func (t *Thread) SystemCall() {
	watched := t.process.engines.Load() != nil
	if watched && t.tellSyscall() {
		return
	}
	t.call = t.regs.AX
	if watched {
		t.tellEnter()
	}
	t.process.table.Syscall(t)
	if t.special() {
		t.afterCall()
	}
}

// special reports whether there is anything to do after a call. It is inlined: under an
// emulator, calling a function and returning costs about fifty instructions, and a short
// system call has some three hundred.
func (t *Thread) special() bool { return t.leaves || t.process.engines.Load() != nil }

// Plain reports whether there is nothing to do before or after a system call: no engine is to be told,
// nothing is left of an earlier call. The call that begins need not go through SystemCall then.
//
// Context: t's goroutine. It is inlined into code that is nosplit.
func (t *Thread) Plain() bool {
	if t.special() {
		return false
	}
	t.call = t.regs.AX
	return true
}

// afterCall clears the state of one system call, unless the call will be restarted.
func (t *Thread) afterCall() {
	t.sleeping.Store(false)
	t.tellLeave()
	if t.again != NoRestart {
		return
	}
	t.leaves = false
	if t.unmask != nil && !t.work.Load() {
		t.restoreMask()
	}
	t.deadline = time.Time{}
}

func (t *Thread) catch() {
	e := recover()
	if e == nil {
		return
	}
	p := t.process
	p.table.Log(fmt.Sprintf("BUG: %v in call %d of %s[%d], which is killed\n%s", e, t.call, p.Name(), p.PID, debug.Stack()))
	p.exit(Killed(abi.SIGKILL))
}

// safely does one part of ending a thread or process. A panic in it is logged, and the next
// parts are still done: otherwise a parent might wait for ever for a process that has
// ended.
func (t *Table) safely(p *Process, part string, f func()) {
	defer func() {
		if e := recover(); e != nil {
			t.Log(fmt.Sprintf("BUG: %v in the end of %s[%d]: %s\n%s", e, p.Name(), p.PID, part, debug.Stack()))
		}
	}()
	f()
}
