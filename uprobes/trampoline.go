package uprobes

import "sonde/linux/proc"

// trampoline is where functions with return probes return to. It enters the kernel by
// SYSCALL, which costs about half as much as a breakpoint. It pushes the two registers that
// SYSCALL overwrites, because compilers that see both caller and callee may rely on them.
// They lie where the return address was, and below.
//
// Only a SYSCALL at this address is taken as a return. The kernel then restores the
// registers and makes the thread continue in its caller, so nothing after the SYSCALL is
// executed.
//
// Source: Intel SDM vol. 2, "SYSCALL".
var trampoline = [...]byte{
	0x51,       // push rcx
	0x41, 0x53, // push r11
	0x0F, 0x05, // syscall
}

// pushed says how far SP has been lowered at each instruction of the trampoline, pushedAll at the last.
var pushed = [len(trampoline)]uint64{1: 8, 3: pushedAll}

const pushedAll = 16

// systemCall handles a SYSCALL if it was the trampoline's, and reports whether it was.
//
// Context: t's goroutine.
func systemCall(t *proc.Thread) (done bool) {
	th := of(t)
	if th == nil || th.Regs().IP-uint64(len(trampoline)) != th.text.trampoline.Load() {
		return false
	}
	r := th.Regs()
	if r11, rcx, err := th.text.mem.LoadPair(r.SP); err == nil { // otherwise its stack has just been unmapped
		r.R11, r.CX = r11, rcx
	}
	r.SP += pushedAll
	if !th.returned() {
		t.Raise(vecBreakpoint)
	}
	if th.tied != 0 {
		th.tie() // the next return will not come here
	}
	return true
}

// returning reports whether IP is in the trampoline, and if so sets it back to the
// beginning.
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
