//go:build tamago

package die

import (
	"slices"
	"strings"
	"sync/atomic"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kallsyms"
	"sonde/kernel/cpu"
	"sonde/kernel/goruntime"
	"sonde/kernel/printk"
	"sonde/kernel/stack"
	"sonde/kernel/text"
)

// symbolBuf is where Symbol writes, per CPU.
var symbolBuf [trap.MaxCPUs][256]byte

// Symbol returns addr as name+offset/size. The string is good until the next
// call on this CPU.
//
// Context: trap.
func Symbol(addr uint64) string {
	if _, name := text.Made(uintptr(addr)); name != "" {
		return name
	}
	buf := &symbolBuf[cpu.ID()]
	b := kallsyms.Symbolize(buf[:0], addr)
	// Safe because: the bytes are this CPU's until its next call.
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// suspect is what SetSuspect set.
var suspect atomic.Pointer[func(id int)]

// SetSuspect makes f print, at the end of a crash's report, which may be long, who on CPU id may have caused it.
//
// Context: goroutine; f runs in any.
func SetSuspect(f func(id int)) { suspect.Store(&f) }

// nameSuspect calls it.
func nameSuspect() {
	if f := suspect.Load(); f != nil {
		(*f)(cpu.ID())
	}
}

// program is what SetProgram set.
var program atomic.Pointer[func(g unsafe.Pointer) (pid int, comm string)]

// SetProgram makes reports name the program for which code on g runs, as f tells:
// its process's number and name, 0 where there is none.
//
// Context: goroutine; f runs in any.
func SetProgram(f func(g unsafe.Pointer) (pid int, comm string)) { program.Store(&f) }

// hardware is what SetHardware set; written once at boot.
var hardware string

// SetHardware makes reports name the machine.
//
// Context: goroutine, at boot.
func SetHardware(name string) { hardware = name }

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
	if hardware != "" {
		printk.Emerg("Hardware name: %s", hardware)
	}
	symbol, file, line := located(uint64(stack.OriginalIP(r)))
	printk.Emerg("RIP: %04x:%s  %s:%d", r.CS, symbol, file, line)
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

// located is Symbol with the line of the source, or of what was inlined there: "?" for no
// code of Go's.
func located(addr uint64) (symbol, file string, line int) {
	if _, file, line = goruntime.Where(uintptr(addr)); file == "" {
		file = "?"
	}
	return Symbol(addr), strings.TrimPrefix(file, "sonde/"), line
}

// maxCalls is how many calls a backtrace has.
const maxCalls = 32

// Backtrace prints the callers of r's code on g's stack.
//
// Context: trap.
func Backtrace(level printk.Level, r *amd64.Regs, g unsafe.Pointer) {
	printk.Printk(level, "Call Trace:")
	var pcs [maxCalls]uintptr
	n := stack.LinesOf(g, r, pcs[:])
	if n == 0 {
		printk.Printk(level, " (no stack known here)")
	}
	for _, pc := range pcs[:n] {
		symbol, file, line := located(uint64(pc) - 1)
		printk.Printk(level, " %s  %s:%d", symbol, file, line)
	}
}

// Handler is one that has to be abandoned, for the report.
type Handler struct {
	Owner string // "kprobes"
	Kind  string
	At    uintptr // where its probe is
	Noun  string  // what its probe is called
	// Code is where the functions begin that may have been called for the probe; 0: no function.
	Code     [3]uintptr
	Finishes bool // it is not abandoned, since others wait for what it holds
}

// fate is what becomes of h.
func (h *Handler) fate() string {
	if h.Finishes {
		return "is the last one"
	}
	return "abandoned"
}

// runs reports whether an instruction is in one of h's functions.
func (h *Handler) runs(pc uintptr) bool {
	fn, ok := kallsyms.Kernel().At(uint64(pc))
	return ok && slices.Contains(h.Code[:], uintptr(fn.Addr))
}

// Mistaken reports that h, which r interrupted, broke the rules: what it did, on which
// line, and the calls that had led there. why is how that was noticed, text what
// it said of it.
//
// Context: trap.
func Mistaken(h Handler, why, text string, r *amd64.Regs) {
	g := trap.G(r)
	var pcs [maxCalls]uintptr
	m := FindMistake(pcs[:stack.LinesOf(g, r, pcs[:])], h.runs, goruntime.Where, why)
	if text == "" {
		text = m.By
	}
	if text == "" {
		text = madeAt(r)
	}
	colon := ""
	if text != "" {
		colon = ": "
	}
	hint := ""
	if m.What == isPanic {
		hint = " (a handler cannot recover)"
	}
	if m.File == "" {
		printk.Err("%s: handler of %s at %s %s: %s%s%s%s; the %s is disabled",
			h.Owner, h.Kind, Symbol(uint64(h.At)), h.fate(), m.What, colon, text, hint, h.Noun)
	} else {
		printk.Err("%s: handler of %s at %s %s: %s%s%s at %s:%d%s; the %s is disabled",
			h.Owner, h.Kind, Symbol(uint64(h.At)), h.fate(), m.What, colon, text, m.File, m.Line, hint, h.Noun)
	}
	printk.Err("CPU: %d", cpu.ID())
	Backtrace(printk.LevelErr, r, g)
}

// madeAt is the name of the made code that r interrupted, "" if it is other code.
func madeAt(r *amd64.Regs) string {
	_, name := text.Made(uintptr(r.IP))
	return name
}

// FaultName is what a handler that raises r has done, addr being what it accessed.
//
// Context: trap.
func FaultName(r *amd64.Regs, addr uint64) string {
	const page = 4096
	if r.Vector == amd64.VEC_PF && addr < page {
		return "nil pointer dereference (#PF page fault)"
	}
	return amd64.VectorName(uint8(r.Vector))
}
