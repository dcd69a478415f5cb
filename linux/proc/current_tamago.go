//go:build tamago

package proc

import (
	"sync/atomic"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kernel/cpu"
	"sonde/kernel/goruntime"
	"sonde/probe/task"
)

// Current returns the thread whose goroutine calls it, for example in a system call, or nil
// in one of the kernel's own goroutines.
func Current() *Thread { return (*Thread)(goruntime.Thread(goruntime.Self())) }

// Interrupted is Current for the code that a trap has interrupted: it tells a probe handler
// for which program the probed function was called. Only the thread's number, its process,
// and the number and name of that may be used.
//
// Context: trap.
func Interrupted(r *amd64.Regs) *Thread { return (*Thread)(goruntime.Thread(trap.G(r))) }

// Describe returns the number and name of the process for which code runs on g, a
// *runtime.g; 0 for none.
//
// Context: any, where g cannot run meanwhile.
func Describe(g unsafe.Pointer) (pid int, comm string) {
	pid, _, comm = Identify(g)
	return pid, comm
}

// Identify is Describe with the number of the thread.
//
// Context: any, where g cannot run meanwhile.
func Identify(g unsafe.Pointer) (pid, tid int, comm string) {
	t := (*Thread)(goruntime.Thread(g))
	if t == nil {
		return 0, 0, ""
	}
	return t.process.PID, t.TID, t.process.Name()
}

// Peek copies from addr in the memory of the process for which code runs on g, as far as the pages are in
// memory, and returns how many bytes it copied.
//
// Context: any, where g cannot run meanwhile.
func Peek(g unsafe.Pointer, dst []byte, addr uint64) int {
	t := (*Thread)(goruntime.Thread(g))
	if t == nil {
		return 0
	}
	m := t.Memory()
	if m == nil {
		return 0
	}
	return m.Peek(dst, addr)
}

// Registers returns the registers of the thread for which code runs on g, as they were when it entered
// the kernel; nil for none.
//
// Context: any, where g cannot run meanwhile.
func Registers(g unsafe.Pointer) *amd64.Regs {
	if t := (*Thread)(goruntime.Thread(g)); t != nil {
		return t.regs
	}
	return nil
}

// Signal sends the process for which code runs on g a signal, 1 to 64, and reports whether there is one.
//
// Context: any, where g cannot run meanwhile.
func Signal(g unsafe.Pointer, n int) bool {
	t := (*Thread)(goruntime.Thread(g))
	if t == nil || t.process.PID == 1 {
		return false
	}
	t.ask(n)
	return true
}

// TaskOf returns the thread for which code runs on g, as tools see it; nil for none.
//
// Context: any, where g cannot run meanwhile.
func TaskOf(g unsafe.Pointer) *task.Task {
	if t := (*Thread)(goruntime.Thread(g)); t != nil {
		return t.task
	}
	return nil
}

// makeCurrent makes t the thread of the goroutine that calls it.
func (t *Thread) makeCurrent() {
	goruntime.SetThread(unsafe.Pointer(t))
	atomic.StorePointer(&t.goroutine, goruntime.Self())
}

// here reports whether t's goroutine calls it.
func (t *Thread) here() bool { return atomic.LoadPointer(&t.goroutine) == goruntime.Self() }

// asleep reports whether t's goroutine waits for something: one that has been woken and has no
// CPU yet does not.
func (t *Thread) asleep() bool {
	g := atomic.LoadPointer(&t.goroutine)
	if g == nil {
		return false
	}
	runs, _ := goruntime.Goroutine(g)
	return !runs
}

// CPUs returns for each CPU the number of the process that it runs a thread of; 0 for none.
func CPUs() []int {
	all := make([]int, cpu.Num())
	for i := range all {
		if _, thread := goruntime.Running(i); thread != nil {
			all[i] = (*Thread)(thread).process.PID
		}
	}
	return all
}
