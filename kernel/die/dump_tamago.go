//go:build tamago

package die

import (
	"sync/atomic"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kallsyms"
	"sonde/kernel/cpu"
	"sonde/kernel/goruntime"
	"sonde/kernel/mm"
	"sonde/kernel/printk"
)

// symbolBuf is where Symbol writes, per CPU.
var symbolBuf [trap.MaxCPUs][256]byte

// Symbol returns addr as name+offset/size. The string is good until the next
// call on this CPU.
//
// Context: trap.
func Symbol(addr uint64) string {
	buf := &symbolBuf[cpu.ID()]
	b := kallsyms.Symbolize(buf[:0], addr)
	// Safe because: the bytes are this CPU's until its next call.
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// original is what SetOriginal set.
var original atomic.Pointer[func(ip uintptr) uintptr]

// SetOriginal makes reports show f(ip) where code runs at ip: the place that a
// copy was made of.
//
// Context: goroutine; f runs in any.
func SetOriginal(f func(ip uintptr) uintptr) { original.Store(&f) }

// OriginalIP returns r's IP as reports show it: in a copy that was made of code, where it
// is in the original.
//
// Context: trap.
func OriginalIP(r *amd64.Regs) uintptr {
	if f := original.Load(); f != nil {
		return (*f)(uintptr(r.IP))
	}
	return uintptr(r.IP)
}

// program is what SetProgram set.
var program atomic.Pointer[func(g unsafe.Pointer) (pid int, comm string)]

// SetProgram makes reports name the program for which code on g runs, as f tells:
// its process's number and name, 0 where there is none.
//
// Context: goroutine; f runs in any.
func SetProgram(f func(g unsafe.Pointer) (pid int, comm string)) { program.Store(&f) }

// whose prints on which CPU g runs, and for whom.
func whose(level printk.Level, g unsafe.Pointer) {
	if f := program.Load(); f != nil {
		if pid, comm := (*f)(g); pid != 0 {
			printk.Printk(level, "CPU: %d PID: %d Comm: %s goroutine: %d", cpu.ID(), pid, comm, goruntime.Goid(g))
			return
		}
	}
	printk.Printk(level, "CPU: %d goroutine: %d", cpu.ID(), goruntime.Goid(g))
}

// dump prints CPU, registers, and the backtrace of g from there.
func dump(r *amd64.Regs, g unsafe.Pointer) {
	whose(printk.LevelEmerg, g)
	printk.Emerg("RIP: %04x:%s", r.CS, Symbol(uint64(OriginalIP(r))))
	printk.Emerg("RSP: %04x:%016x EFLAGS: %08x", r.SS, r.SP, r.Flags)
	printk.Emerg("RAX: %016x RBX: %016x RCX: %016x", r.AX, r.BX, r.CX)
	printk.Emerg("RDX: %016x RSI: %016x RDI: %016x", r.DX, r.SI, r.DI)
	printk.Emerg("RBP: %016x R08: %016x R09: %016x", r.BP, r.R8, r.R9)
	printk.Emerg("R10: %016x R11: %016x R12: %016x", r.R10, r.R11, r.R12)
	printk.Emerg("R13: %016x R14: %016x R15: %016x", r.R13, r.R14, r.R15)
	printk.Emerg("CR2: %016x CR3: %016x", cpu.ReadCR2(), cpu.ReadCR3())
	Backtrace(printk.LevelEmerg, r, g)
}

// DumpStack prints the stack that the trap with registers r interrupted: what
// Linux's dump_stack() does for a probe handler.
//
// Context: trap.
func DumpStack(r *amd64.Regs) {
	g := trap.G(r)
	whose(printk.LevelInfo, g)
	Backtrace(printk.LevelInfo, r, g)
}

// Backtrace prints the callers of r's code on g's stack.
//
// Context: trap.
func Backtrace(level printk.Level, r *amd64.Regs, g unsafe.Pointer) {
	printk.Printk(level, "Call Trace:")
	if !walkable(r, g) {
		printk.Printk(level, " (no stack known here)")
		return
	}
	var pcs [32]uintptr
	n := goruntime.Callers(g, OriginalIP(r), uintptr(r.SP), pcs[:])
	for _, pc := range pcs[:n] {
		printk.Printk(level, " %s", Symbol(uint64(pc)-1))
	}
}

// walkable reports whether the runtime can walk g's stack from r: it is in Go
// code, on that stack, or has just run over its end.
func walkable(r *amd64.Regs, g unsafe.Pointer) bool {
	if g == nil || !mm.Text.Contains(OriginalIP(r)) {
		return false
	}
	lo, hi := goruntime.Stack(g)
	return uintptr(r.SP) >= lo-4096 && uintptr(r.SP) < hi
}
