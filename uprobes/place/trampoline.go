package place

// Trampoline is where functions with return probes return to. It enters the kernel by
// SYSCALL, which costs about half as much as a breakpoint. It pushes the two registers that
// SYSCALL overwrites, because compilers that see both caller and callee may rely on them.
// They lie where the return address was, and below.
//
// Only a SYSCALL at this address is taken as a return. The kernel then restores the
// registers and makes the thread continue in its caller, so nothing after the SYSCALL is
// executed.
//
// Source: Intel SDM vol. 2, "SYSCALL".
var Trampoline = [...]byte{
	0x51,       // push rcx
	0x41, 0x53, // push r11
	0x0F, 0x05, // syscall
}

// Pushed says how far SP has been lowered at each instruction of the trampoline, PushedAll at the last.
var Pushed = [len(Trampoline)]uint64{1: 8, 3: PushedAll}

// PushedAll is how far at the SYSCALL.
const PushedAll = 16
