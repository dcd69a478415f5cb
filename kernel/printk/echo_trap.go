package printk

// Trap context. A probe whose handler logs may be on a function that showing a line calls,
// for example memmove: every line shown is a hit, and every hit logs another line. The CPU
// that shows the first line would never finish.
//
// So the records that handlers log while they interrupt the console's owner are an echo of
// what it shows. A screenful is shown, so that one sees what happens; the others are
// dropped and counted. The handlers still run.
//
// Rejected: not running handlers that interrupt the console's owner (the way to the console
// could not be probed at all, and most handlers do not log); looking for traps by CPU
// instead of by goroutine (a goroutine can be moved while it is at the console).
//
// Source: the idea is that of Linux 6.1 kernel/printk/printk.c,
// PRINTK_MAX_RECURSION in printk_enter_irqsave.

import "sync/atomic"

// maxEchoes is how many records are let through each time the console is taken.
const maxEchoes = 100

var (
	taskHook atomic.Pointer[func() uintptr]

	consoleTask   atomic.Uintptr // the goroutine at the console; 0: none, or not known
	consoleEchoes atomic.Uint32  // records logged on top of it
)

// SetTask sets the function that returns the goroutine that is running or, in a probe
// handler, the one that it has interrupted; 0 for none. f must be fit for trap context.
func SetTask(f func() uintptr) { taskHook.Store(&f) }

// currentTask is an indirect call of its own, so that the trap check can name it.
//
//go:noinline
func currentTask() uintptr {
	if f := taskHook.Load(); f != nil {
		return (*f)()
	}
	return 0
}

// atConsole notes that the caller has just taken the console, with its stack at sp.
func atConsole(sp uintptr) {
	consoleShown.Store(0)
	consoleEchoes.Store(0)
	consoleTask.Store(currentTask())
	consoleStack.Store(sp)
}

// leaveConsole is called just before the console is released.
func leaveConsole() {
	consoleStack.Store(0)
	consoleTask.Store(0)
}

// echo reports whether a record must be dropped as an echo. Errors always pass: the machine
// may be about to stop because of what happened at the console.
func echo(level Level) bool {
	t := currentTask()
	if t == 0 || t != consoleTask.Load() || level <= LevelErr || consoleEchoes.Add(1) <= maxEchoes {
		return false
	}
	log.dropped.Add(1)
	log.unseen.Add(1)
	return true
}
