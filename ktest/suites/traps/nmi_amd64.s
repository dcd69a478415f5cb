//go:build tamago

#include "textflag.h"

// func nmiAtProbe(apic uintptr)
// Sends this CPU an NMI from its local APIC at apic, and executes the NOP that
// has the probe. QEMU notices the NMI where the next block of instructions begins, which
// is the first instruction of the breakpoint's entry stub.
TEXT ·nmiAtProbe(SB),NOSPLIT,$0-8
	MOVQ	apic+0(FP), AX
	PUSHFQ
	CLI				// no other CPU in between
	MOVL	0x20(AX), CX		// the APIC's id, in the upper byte
	MOVL	CX, 0x310(AX)		// ICR, upper half: the destination
	MOVL	$0x400, CX
	MOVL	CX, 0x300(AX)		// ICR, lower half: NMI
	BYTE	$0x90			// NOP: the probe
	POPFQ
	RET

// func probed() uintptr
// Where the NOP is.
TEXT ·nmiAtProbeAddr(SB),NOSPLIT,$0-8
	MOVQ	$·nmiAtProbe(SB), AX
	MOVQ	AX, ret+0(FP)
	RET
