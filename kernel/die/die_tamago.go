//go:build tamago

package die

import (
	"sync/atomic"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/insn"
	"sonde/arch/amd64/trap"
	"sonde/internal/exitcode"
	"sonde/kernel/cpu"
	"sonde/kernel/flight"
	"sonde/kernel/goruntime"
	"sonde/kernel/mm"
	"sonde/kernel/notifier"
	"sonde/kernel/power"
	"sonde/kernel/printk"
	"sonde/kernel/screen"
	"sonde/kernel/smp"
	"sonde/kernel/text"
)

// vecExit is the software interrupt with which a dying runtime gets off the
// thread shim's stack, where ordinary Go cannot run.
const vecExit = amd64.VecExit

// Install takes every exception.
//
// Context: boot, before the runtime.
func Install() {
	for v := uint8(0); v < amd64.Exceptions; v++ {
		trap.SetHandler(v, exception)
	}
	trap.SetHandler(amd64.VEC_BP, Breakpoint)
	trap.SetHandler(amd64.VEC_DB, Debug)
	trap.SetNMI(nmi)
	trap.SetHandler(vecExit, exited)
	trap.SetAll(unexpected)
}

// Breakpoint takes a #BP that is no probe's: it asks the chain.
//
// Context: trap.
func Breakpoint(r *amd64.Regs) {
	trap.SaveXMM(r)
	if notifier.Die[amd64.VEC_BP].Walk(r, 0) == notifier.Next {
		strayBreakpoint(r)
	}
}

// Debug takes a #DB that is no probe's: it asks the chain.
//
// Context: trap.
func Debug(r *amd64.Regs) {
	trap.SaveXMM(r)
	if notifier.Die[amd64.VEC_DB].Walk(r, 0) == notifier.Next {
		printk.Warn("unexpected debug trap at %s", Symbol(r.IP))
		r.Flags &^= amd64.RFLAGS_TF
	}
}

// exception asks the chain, then the rules of the package comment.
func exception(r *amd64.Regs) {
	addr := uint64(0)
	if r.Vector == amd64.VEC_PF {
		addr = cpu.ReadCR2()
	}
	if r.Vector != amd64.VEC_DF && notifier.Die[r.Vector&(amd64.Exceptions-1)].Walk(r, addr) == notifier.Stop {
		return
	}
	if !panics(r, addr) {
		Fatal(r, addr)
	}
}

// Refault makes r, the registers of code that is about to continue, continue as if its
// instruction had raised exception vector.
//
// Context: trap.
func Refault(r *amd64.Regs, vector, err, addr uint64) {
	r.Vector, r.Err = vector, err
	if !panics(r, addr) {
		Fatal(r, addr)
	}
}

// strayBreakpoint reports an int3 that no probe owns. A probe may have been
// removed between the int3 and now: then the byte is gone, and the instruction
// that is there is executed.
func strayBreakpoint(r *amd64.Regs) {
	at := r.IP - 1
	if mm.Text.Contains(uintptr(at)) && *(*byte)(unsafe.Pointer(uintptr(at))) != insn.OpInt3 && !twoByteInt3(at) {
		text.Refresh(uintptr(at))
		r.IP = at
		return
	}
	printk.Warn("unexpected int3 at %s", Symbol(at))
}

// twoByteInt3 reports whether CD 03, the assembler's INT $3, ends at at.
func twoByteInt3(at uint64) bool {
	// Safe because: text is readable, and at is not its first byte.
	return *(*[2]byte)(unsafe.Pointer(uintptr(at - 1))) == [2]byte{0xcd, 0x03}
}

// Linux's numbers, which the runtime's sigpanic expects.
const (
	sigFPE, fpeIntDiv   = 8, 1
	sigSEGV, segvMapErr = 11, 1
	siKernel            = 0x80
)

// panics turns a fault in a goroutine into the Go panic that it is on every
// platform, if it is one.
func panics(r *amd64.Regs, addr uint64) bool {
	sig, code := uint32(sigSEGV), uintptr(segvMapErr)
	switch r.Vector {
	case amd64.VEC_PF:
	case amd64.VEC_DE:
		sig, code = sigFPE, fpeIntDiv
	case amd64.VEC_GP:
		// As a rule a bug of the kernel's, but with this also an address that is not
		// canonical; the CPU does not say which.
		if r.Err != 0 || !goruntime.PanicsOnFault(trap.G(r)) {
			return false
		}
		code, addr = siKernel, 1<<63
	default:
		return false
	}
	pc, sp := uintptr(r.IP), uintptr(r.SP)
	if !goruntime.Sigpanic(trap.G(r), sig, code, uintptr(addr), &pc, &sp) {
		return false
	}
	if r.Vector == amd64.VEC_PF && isLow(addr) && !goruntime.PanicsOnFault(trap.G(r)) {
		sayLow(r, addr)
	}
	r.IP, r.SP = uint64(pc), uint64(sp)
	return true
}

// isLow reports whether addr is in the half of all addresses where the kernel has nothing; those
// next to 0 are what nil pointers lead to.
func isLow(addr uint64) bool { return addr >= 4096 && addr < 1<<47 }

// sayLow says what code of the kernel wanted with such an address: with the tables of a program there
// may be something of the program's, which SMAP and SMEP keep the kernel from.
func sayLow(r *amd64.Regs, addr uint64) {
	what := "read"
	switch {
	case r.Err&amd64.PF_I != 0:
		what = "execute"
	case r.Err&amd64.PF_W != 0:
		what = "write"
	}
	printk.Emerg("BUG: the kernel tried to %s %#x, in the lower half, where only programs have memory", what, addr)
}

func unexpected(r *amd64.Regs) {
	printk.Warn("unexpected interrupt %d", r.Vector)
	cpu.EOI()
}

// dying is 1 more than the CPU that ends the machine.
var dying atomic.Int32

// nmi stops this CPU if another is ending the machine, which itself takes no notice of the
// NMIs that probes ask for. While the machine is stopped
// code may be half changed: then no handler is asked, and the NMI is lost.
func nmi(r *amd64.Regs) {
	cpu.SkipHalt(r)
	switch d := dying.Load(); {
	case d == int32(trap.ID(r)+1):
		return
	case d != 0:
		cpu.HaltForever()
	}
	if smp.Stopped() {
		return
	}
	if notifier.Die[amd64.VEC_NMI].Walk(r, 0) == notifier.Next {
		printk.Warn("unexpected NMI")
	}
}

// begin makes this CPU the one that ends the machine; a second one stops, and
// a fault while dying ends it without another word.
func begin() {
	me := int32(cpu.ID() + 1)
	if !dying.CompareAndSwap(0, me) {
		if dying.Load() == me {
			power.Exit(exitcode.Crash)
		}
		cpu.HaltForever()
	}
	for i := 0; i < cpu.Num(); i++ {
		if i != int(me)-1 {
			cpu.SendNMI(i)
		}
	}
	screen.Main.Die()
	flight.Main.End(flight.Crash)
}

// Fatal reports an exception there is no way on from, and ends the machine.
//
// Context: trap.
func Fatal(r *amd64.Regs, addr uint64) {
	begin()
	explain(r, addr)
	end(amd64.VectorName(uint8(r.Vector)), r, trap.G(r))
}

// explain says what the exception means, in the words a Linux user knows.
func explain(r *amd64.Regs, addr uint64) {
	switch {
	case r.Vector == amd64.VEC_PF && trap.Self().Guard(uintptr(addr)) != "":
		printk.Emerg("BUG: %s overflow at %#x", trap.Self().Guard(uintptr(addr)), addr)
	case r.Vector == amd64.VEC_PF && addr < 4096:
		printk.Emerg("BUG: kernel NULL pointer dereference, address: %#016x", addr)
	case r.Vector == amd64.VEC_PF && isLow(addr):
		sayLow(r, addr)
	case r.Vector == amd64.VEC_PF:
		printk.Emerg("BUG: unable to handle page fault for address: %#016x", addr)
	}
	printk.Emerg("%s, error code %#x", amd64.VectorName(uint8(r.Vector)), r.Err)
}

// end reports where, on g, the kernel ended with registers r, and ends the machine.
func end(why string, r *amd64.Regs, g unsafe.Pointer) {
	dump(r, g)
	nameSuspect()
	printk.Emerg("---[ end Kernel panic - not syncing: %s ]---", why)
	printk.Flush()
	stamp(why, r, g)
	power.Exit(exitcode.Crash)
}

// exitCode is what the runtime exits with, for exited.
var exitCode int32

// Exit ends the machine for the Go runtime: code 0 turns it off, anything else
// is a crash that the runtime has already described.
//
// Context: the thread shim, interrupts off.
//
//go:nosplit
func Exit(code int32) {
	exitCode = code
	raiseExit()
	cpu.HaltForever()
}

// raiseExit is INT $vecExit.
func raiseExit()

func exited(r *amd64.Regs) {
	if exitCode == 0 {
		printk.Flush()
		power.Off()
	}
	begin()
	var at amd64.Regs
	var g unsafe.Pointer
	at = *r
	at.IP, at.SP, at.BP, g = goruntime.ExitContext()
	printk.Emerg("Go runtime: exit status %d", exitCode)
	end("Go runtime gave up", &at, g)
}
