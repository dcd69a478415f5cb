package proc

import (
	"errors"
	"fmt"
	"path"
	"syscall"
	"time"

	"sonde/arch/amd64"
	"sonde/arch/amd64/debugreg"
	"sonde/kernel/abi"
	"sonde/kernel/mm/backing"
	"sonde/linux/space"
)

// cause is the signal that an exception becomes, and its name in the log.
type cause struct {
	signal int // 0: there is no such exception
	code   int32
	name   string
}

// causes is the cause of each exception, by vector.
var causes = [...]cause{
	amd64.VEC_DE: {abi.SIGFPE, abi.FPE_INTDIV, "divide error"},
	amd64.VEC_DB: {abi.SIGTRAP, abi.TRAP_TRACE, ""},
	amd64.VEC_BP: {abi.SIGTRAP, abi.SI_KERNEL, ""},
	amd64.VEC_OF: {abi.SIGSEGV, abi.SI_KERNEL, "overflow"},
	amd64.VEC_BR: {abi.SIGSEGV, abi.SI_KERNEL, "bounds"},
	amd64.VEC_UD: {abi.SIGILL, abi.ILL_ILLOPN, "invalid opcode"},
	amd64.VEC_NM: {abi.SIGILL, abi.ILL_ILLOPN, "device not available"},
	amd64.VEC_TS: {abi.SIGSEGV, abi.SI_KERNEL, "invalid TSS"},
	amd64.VEC_NP: {abi.SIGBUS, abi.SI_KERNEL, "segment not present"},
	amd64.VEC_SS: {abi.SIGBUS, abi.SI_KERNEL, "stack segment"},
	amd64.VEC_GP: {abi.SIGSEGV, abi.SI_KERNEL, "general protection fault"},
	amd64.VEC_MF: {abi.SIGFPE, abi.FPE_FLTINV, "fpu exception"},
	amd64.VEC_AC: {abi.SIGBUS, abi.BUS_ADRALN, "alignment check"},
	amd64.VEC_XM: {abi.SIGFPE, abi.FPE_FLTINV, "simd exception"},
	amd64.VEC_VE: {abi.SIGSEGV, abi.SI_KERNEL, "virtualization exception"},
	amd64.VEC_CP: {abi.SIGSEGV, abi.SI_KERNEL, "control protection"},
}

// exception handles an exception of the program: it makes a page present, or sends a
// signal.
func (t *Thread) exception(vector int) {
	if vector == amd64.VEC_PF {
		t.pageFault()
		return
	}
	if vector == amd64.VEC_DB && t.watched() {
		return
	}
	if t.tellException(vector) {
		return
	}
	if vector == amd64.VEC_DB && t.int1() {
		t.raise(cause{abi.SIGTRAP, abi.TRAP_BRKPT, ""})
		return
	}
	t.Raise(vector)
}

// Raise sends the signal for an exception of t's program, at the present IP. For page
// faults use Access.
//
// Context: t's goroutine.
func (t *Thread) Raise(vector int) {
	t.regs.Vector = uint64(vector)
	var c cause
	if uint(vector) < uint(len(causes)) {
		c = causes[vector]
	}
	if c.signal == 0 {
		c = cause{abi.SIGSEGV, abi.SI_KERNEL, fmt.Sprintf("exception %d", vector)}
	}
	t.raise(c)
}

func (t *Thread) raise(c cause) {
	r := t.Regs()
	info := abi.Siginfo{Signo: int32(c.signal), Code: c.code}
	if c.code != abi.SI_KERNEL {
		info.SetAddr(r.IP)
	}
	if c.name != "" && t.unhandled(c.signal) {
		t.log(fmt.Sprintf("traps: %s[%d] %s ip:%x sp:%x error:%x%s", t.process.Name(), t.TID, c.name, r.IP, r.SP, r.Err, t.where(r.IP)))
	}
	t.force(info, false)
}

// pageFault makes the page present that the program wants, or sends a signal that says why
// it cannot.
func (t *Thread) pageFault() {
	r, addr := t.Regs(), t.cpu.Address()
	if t.Memory().Reserved(addr) {
		r.Err |= amd64.PF_P // as in Linux: a program cannot find out which kernel addresses are mapped
	}
	if r.Err&amd64.PF_U == 0 {
		t.kernelsFault()
		return
	}
	access := space.Read
	switch {
	case r.Err&amd64.PF_I != 0:
		if t.vsyscall(addr) {
			return
		}
		access = space.Exec
	case r.Err&amd64.PF_W != 0:
		access = space.Write
	}
	t.Access(addr, access)
}

// Access does what the program's own access to its memory would do: afterwards the page is
// present, or a signal is pending for t. An engine that executes an instruction itself
// calls it when it cannot access the memory.
//
// Context: t's goroutine.
func (t *Thread) Access(addr uint64, access space.Prot) {
	r := t.Regs()
	err := t.Memory().Fault(addr, access)
	for errors.Is(err, space.ErrNoMemory) {
		if !t.makeRoom() {
			return
		}
		err = t.Memory().Fault(addr, access)
	}
	if err == nil {
		t.charge.faults.Add(1)
		return
	}
	if t.tellException(amd64.VEC_PF) {
		return
	}
	r.Vector, t.faulted = amd64.VEC_PF, addr
	info := abi.Siginfo{Signo: abi.SIGSEGV, Code: abi.SEGV_MAPERR}
	switch {
	case errors.Is(err, backing.ErrBus):
		info.Signo, info.Code = abi.SIGBUS, abi.BUS_ADRERR
	case errors.Is(err, space.ErrAccess):
		info.Code = abi.SEGV_ACCERR
	}
	info.SetAddr(addr)
	if info.Signo == abi.SIGSEGV && t.unhandled(abi.SIGSEGV) {
		t.segfault(r, addr)
	}
	t.force(info, false)
}

// segfault logs what Linux does.
func (t *Thread) segfault(r *amd64.Regs, addr uint64) {
	t.log(fmt.Sprintf("%s[%d]: segfault at %x ip %016x sp %016x error %x%s", t.process.Name(), t.TID, addr, r.IP, r.SP, r.Err, t.where(r.IP)))
}

// where returns the mapping that contains an address, as " in name[start+size]".
func (t *Thread) where(addr uint64) string {
	a, ok := t.Memory().At(addr)
	if !ok || a.Ident.Name == "" {
		return ""
	}
	return fmt.Sprintf(" in %s[%x+%x]", path.Base(a.Ident.Name), a.Start, a.End-a.Start)
}

// unhandled reports whether the program has no handler for the signal, so that it
// ends by it.
func (t *Thread) unhandled(n int) bool {
	p := t.process
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	return !p.actions.Caught(n) || t.blocked.Has(n)
}

// logLimit lets 10 lines in 5 s through: a program can make as many as it likes.
type logLimit struct {
	since   time.Time
	lines   int
	dropped int
}

const (
	limitLines = 10
	limitTime  = 5 * time.Second
)

// pass reports whether a line may be logged, and how many were not before it.
func (l *logLimit) pass(now time.Time) (ok bool, dropped int) {
	if now.Sub(l.since) > limitTime {
		dropped = l.dropped
		*l = logLimit{since: now}
	}
	if l.lines++; l.lines > limitLines {
		l.dropped++
		return false, 0
	}
	return true, dropped
}

func (t *Table) mayLog() (ok bool, dropped int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.logged.pass(time.Now())
}

// log logs a line about a program, unless there are too many.
func (t *Thread) log(line string) {
	table := t.process.table
	ok, dropped := table.mayLog()
	if dropped > 0 {
		table.Log(fmt.Sprintf("%d lines about programs were suppressed", dropped))
	}
	if ok {
		table.Log(line)
	}
}

// opInt1 is the opcode of INT1.
const opInt1 = 0xf1

// watched reports whether a #DB was only a watchpoint's.
func (t *Thread) watched() bool {
	tell := t.process.table.Watched
	return tell != nil && tell(t, t.cpu.Debug())
}

// int1 reports whether a #DB was caused by INT1, which sets no bit of DR6, and not by the end of a
// step. BS may be left of a step in the kernel, which does not clear it (arch/amd64/trap). But
// without TF only an instruction that has cleared TF ends a step.
func (t *Thread) int1() bool {
	if t.cpu.Debug()&debugreg.DR6_BS == 0 {
		return true
	}
	var before [1]byte
	r := t.Regs()
	n, _ := t.Memory().CopyIn(before[:], r.IP-1)
	return r.Flags&amd64.RFLAGS_TF == 0 && n == 1 && before[0] == opInt1
}

// VsyscallPage is the page of Linux's oldest calls without SYSCALL: three functions at fixed addresses, which old static programs
// call. As in Linux, the page cannot be read (vsyscall=xonly): a call faults when it is fetched, and the
// kernel does what it asks for. It is no system call for engines.
//
// Source: Linux, arch/x86/entry/vsyscall/vsyscall_64.c, emulate_vsyscall.
const (
	VsyscallPage = uint64(0xffffffffff600000)
	vsyscallSize = 1024 // from one function to the next
)

// vsyscalls are the numbers of the system calls that do the same: gettimeofday, time, getcpu.
var vsyscalls = [...]uint64{96, 201, 309}

// vsyscall does what the function at addr does, in whose place the program has faulted. If it returns false, there
// is none, or it has no memory for the return address or the result, and nothing has changed.
func (t *Thread) vsyscall(addr uint64) (done bool) {
	const lost = ^uint64(syscall.EFAULT) + 1
	r, n := t.Regs(), (addr-VsyscallPage)/vsyscallSize
	if addr != r.IP || addr%vsyscallSize != 0 || n >= uint64(len(vsyscalls)) {
		return false
	}
	ret, err := t.Memory().LoadWord(r.SP)
	if err != nil {
		return false
	}
	was := *r
	r.AX = vsyscalls[n]
	if t.process.table.Syscall(t); r.AX == lost {
		*r = was
		return false
	}
	r.IP, r.SP = ret, r.SP+8
	return true
}
