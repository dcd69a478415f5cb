package process

import (
	"fmt"
	"reflect"
	"runtime"

	"sonde/linux/proc"
	"sonde/linux/syscall"
)

// Where a thread waits: in which system call, and in which of the kernel's functions. The kernel's threads are Go's
// goroutines, whose frames are not walked while they sleep, so that one function is known: the one that serves the call.

// callText is /proc/PID/syscall: the number of the call, its arguments, the stack pointer and the instruction pointer.
//
// Source: Linux, proc_pid_syscall(5).
func callText(w proc.Waiting, sleeps bool) string {
	switch {
	case !sleeps:
		return "running\n"
	case !w.InCall:
		return fmt.Sprintf("-1 %#x %#x\n", w.SP, w.IP)
	}
	a := w.Args
	return fmt.Sprintf("%d %#x %#x %#x %#x %#x %#x %#x %#x\n", w.Call, a[0], a[1], a[2], a[3], a[4], a[5], w.SP, w.IP)
}

// channel is /proc/PID/wchan: the function in which the thread waits, without a newline; 0 if it does not.
//
// Source: Linux, proc_pid_wchan(5).
func channel(w proc.Waiting, sleeps bool) string {
	if name := serves(w); sleeps && name != "" {
		return name
	}
	return "0"
}

// stackText is /proc/PID/stack. Linux has an offset after each function.
//
// Source: Linux, proc_pid_stack(5).
func stackText(w proc.Waiting, sleeps bool) string {
	if name := serves(w); sleeps && name != "" {
		return "[<0>] " + name + "\n"
	}
	return ""
}

// serves names the function that serves the call; "": there is none.
func serves(w proc.Waiting) string {
	c, ok := syscall.Lookup(w.Call)
	if !w.InCall || !ok {
		return ""
	}
	return runtime.FuncForPC(reflect.ValueOf(c.Func).Pointer()).Name()
}
