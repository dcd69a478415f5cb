//go:build tamago

package proc

import (
	"unsafe"

	"sonde/kernel/abi"
)

// What tracepoints ask about threads and processes, which they have by their addresses. All of it runs in trap
// context, in the middle of code that may hold any lock: it only loads.

// IdentifyThread is Identify for a thread.
func IdentifyThread(thread unsafe.Pointer) (pid, tid int, comm string) {
	t := (*Thread)(thread)
	return t.process.PID, t.TID, t.process.Name()
}

// PathOf returns the file of a thread's program.
func PathOf(thread unsafe.Pointer) string { return (*Thread)(thread).process.path }

// IdentifyProcess returns the number and the name of a process.
func IdentifyProcess(process unsafe.Pointer) (pid int, comm string) {
	p := (*Process)(process)
	return p.PID, p.Name()
}

// Faulted tells at which address a thread's program has faulted, and from where.
func Faulted(thread unsafe.Pointer) (addr, ip, code uint64) {
	t := (*Thread)(thread)
	return t.cpu.Address(), t.regs.IP, t.regs.Err
}

// SignalSent tells of a signal what it is, and whether the queue is the process's own.
func SignalSent(process, queue, info unsafe.Pointer) (sig, errno, code int32, group bool) {
	i := (*abi.Siginfo)(info)
	return i.Signo, i.Errno, i.Code, queue == unsafe.Pointer(&(*Process)(process).pending)
}

// SignalTaken tells of a signal that a thread takes how it came, and what its process does about it.
func SignalTaken(thread unsafe.Pointer, sig int) (errno, code int32, handler, flags uint64) {
	t := (*Thread)(thread)
	if int(t.info.Signo) == sig {
		errno, code = t.info.Errno, t.info.Code
	}
	if all := t.process.actions; all != nil && uint(sig) < uint(len(all.Actions)) {
		handler, flags = all.Actions[sig].Handler, all.Actions[sig].Flags
	}
	return errno, code, handler, flags
}
