package unwind

import (
	"bytes"
	"encoding/binary"

	"sonde/linux/program/cfi"
)

// sigreturn is what signal handlers return to: MOV $15, %RAX (of either length) and SYSCALL.
var sigreturn = [][]byte{
	{0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05},
	{0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05},
}

// sigcontext is where in the frame above SP the registers are, in its own order.
const sigcontext = 40

// order is that of sigcontext.
//
// Source: Linux, asm/sigcontext.h, struct sigcontext.
var order = [...]int{cfi.R8, cfi.R8 + 1, cfi.R8 + 2, cfi.R8 + 3, cfi.R8 + 4, cfi.R8 + 5, cfi.R8 + 6, cfi.R8 + 7,
	cfi.RDI, cfi.RSI, cfi.RBP, cfi.RBX, cfi.RDX, cfi.RAX, cfi.RCX, cfi.RSP, cfi.RIP}

// signal leaves a signal's frame, if PC is where its handler returns to.
func (w *walker) signal() bool {
	var code [9]byte
	if w.f.PC == 0 || !w.Read(code[:7], w.f.PC) {
		return false
	}
	w.Read(code[7:], w.f.PC+7)
	for _, s := range sigreturn {
		if bytes.HasPrefix(code[:], s) {
			return w.sigcontext()
		}
	}
	return false
}

func (w *walker) sigcontext() bool {
	var b [8 * len(order)]byte
	if !w.Read(b[:], w.s.Reg[cfi.RSP]+sigcontext) {
		return false
	}
	for i, n := range order {
		w.s.Reg[n] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return true
}
