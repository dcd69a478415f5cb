package proc

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"sonde/kernel/abi"
)

// run is a thread's life.
func (t *Thread) run() {
	t.charge.since = t.now()
	for t.step() {
	}
	t.end()
}

// step is one time round: it does what is to be done before the program runs, lets it
// run until something happens, and does what is to be done about that. It returns
// false when the thread is to end. A panic in there ends the process, not the machine.
func (t *Thread) step() (goOn bool) {
	defer t.catch()
	if !t.ready() {
		return false
	}
	t.charge.enter(t.now())
	ev := t.cpu.Run(t.Memory().Space)
	t.charge.leave(t.now())
	switch {
	case ev == SystemCall:
		t.SystemCall()
	case ev < 32:
		t.exception(int(ev))
	case ev == NotRun:
		runtime.Gosched()
	default: // an interrupt: others may have become runnable
		runtime.Gosched()
	}
	return true
}

// SystemCall makes the system call that the registers ask for, with IP behind the
// instruction. An engine calls it in Exception instead of letting the program
// execute SYSCALL.
//
// Context: t's goroutine.
func (t *Thread) SystemCall() {
	t.call = t.Regs().AX
	t.tellEnter()
	t.process.table.Syscall(t)
	t.sleeping.Store(false)
	t.tellLeave()
	t.afterCall()
}

// afterCall forgets what held for one system call only, unless it will be made
// again.
func (t *Thread) afterCall() {
	if t.again != NoRestart {
		return
	}
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

// safely does a part of the end of a thread or process. A panic in it is logged, and
// what follows is done all the same: nobody waits for ever for a process that ended.
func (t *Table) safely(p *Process, part string, f func()) {
	defer func() {
		if e := recover(); e != nil {
			t.Log(fmt.Sprintf("BUG: %v in the end of %s[%d]: %s\n%s", e, p.Name(), p.PID, part, debug.Stack()))
		}
	}()
	f()
}

func (t *Thread) now() time.Duration {
	if clock := t.process.table.Clock; clock != nil {
		return clock()
	}
	return 0
}
