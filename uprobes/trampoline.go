package uprobes

import "sonde/kernel/proc"

// trampoline is where functions with return probes return to. It enters the kernel by
// SYSCALL, which costs about half of what a breakpoint does, and keeps the two registers on
// the stack that SYSCALL loses: compilers that know a function know what it leaves alone. They lie
// where the return address was, and below that.
//
// SYSCALL is taken for a return only at this place. The kernel then gives the registers back
// and lets the thread go on at its caller, so nothing behind it is executed.
//
// Source: Intel SDM vol. 2, "SYSCALL".
var trampoline = [...]byte{
	0x51,       // push rcx
	0x41, 0x53, // push r11
	0x0F, 0x05, // syscall
}

// pushed says how far SP has come down at each instruction of the trampoline.
var pushed = [len(trampoline)]uint64{1: 8, 3: 16}

// systemCall is told of a SYSCALL, and reports whether it was the trampoline's.
//
// Context: t's goroutine.
func systemCall(t *proc.Thread) (done bool) {
	th := of(t)
	if th == nil || th.Regs().IP-uint64(len(trampoline)) != th.text.trampoline.Load() {
		return false
	}
	r := th.Regs()
	if r11, rcx, err := th.text.mem.LoadPair(r.SP); err == nil { // else its stack has just been taken away
		r.R11, r.CX = r11, rcx
	}
	r.SP += pushed[3]
	if !th.returned() {
		t.Raise(vecBreakpoint)
	}
	return true
}

// returning reports whether IP is in the trampoline; then it is at its beginning again.
func (th *thread) returning() bool {
	r, at := th.Regs(), th.text.trampoline.Load()
	off := r.IP - at
	if at == 0 || off >= uint64(len(trampoline)) {
		return false
	}
	r.SP += pushed[off]
	r.IP = at
	return true
}
