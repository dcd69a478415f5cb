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
	for t.ready() {
		t.step()
	}
	t.end()
}

// step lets the program run until something happens, and does what is to be
// done about that. A panic in there ends the process, not the machine.
func (t *Thread) step() {
	defer t.catch()
	t.charge.enter(t.now())
	ev := t.cpu.Run(t.Memory().Space)
	t.charge.leave(t.now())
	switch {
	case ev == SystemCall:
		t.call = t.Regs().AX
		t.tellEnter()
		t.process.table.Syscall(t)
		t.sleeping.Store(false)
		t.tellLeave()
		t.afterCall()
	case ev < 32:
		t.exception(int(ev))
	case ev == NotRun:
		runtime.Gosched()
	default: // an interrupt: others may have become runnable
		runtime.Gosched()
	}
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

func (t *Thread) now() time.Duration {
	if clock := t.process.table.Clock; clock != nil {
		return clock()
	}
	return 0
}
