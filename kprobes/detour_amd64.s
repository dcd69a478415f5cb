//go:build tamago

#include "textflag.h"
#include "soft_amd64.h"

// A detour begins with a copy of detour, note or plain, whose immediates have been filled
// in (detour/template.go), and continues with its copy of the probed instructions. The
// constants whose names end in an underscore are these immediates:
//
//	point_   the *point
//	behind_  its address plus one, as after an INT3
//	resume_  where the copy of instructions begins
//	where_   where point_ stands
//	late_    late

// ROOM reserves const_CheckRoom bytes in front of the entry, where the copy of a stack
// check may go. The entry is found by their length.
#define ROOM \
	LONG	$0x90909090; LONG	$0x90909090; LONG	$0x90909090; LONG	$0x90909090; \
	LONG	$0x90909090; LONG	$0x90909090; LONG	$0x90909090; LONG	$0x90909090; \
	LONG	$0x90909090; LONG	$0x90909090; LONG	$0x90909090; LONG	$0x90909090

// NOTE is (*Kretprobe).note (kretprobe_trap.go) for the usual case: it gives an instance to
// the call whose return address is in SLOT. It goes to leave, with nothing changed, if g's
// list has a call that never returned, if this call is in the list already, or if no
// instance is free.
//
// Its user sets SI, DI, BX and DX.
//
//	SI  the CPU's state
//	DI  the probe; then its number, tag and instance
//	BX  g; then the head of its list of calls
//	CX  the instance
//	DX  the distance from the stack's top
//	R8  the CPU's list in the pool, then its part of the ledger
//
// Mirrors (*Kretprobe).note, (*pool).get: go fb9a33e3e7ca, asm e5a7730d4753.
#define NOTE(SLOT) \
	ADDQ	$const_gCalls, BX; \
	MOVQ	(BX), CX; \
	TESTQ	CX, CX; \
	JEQ	take; \
	CMPQ	ret_off(CX), DX; \
	JCC	leave; \
take: \
	MOVQ	state_part(SI), R8; \
	ADDQ	(Kretprobe_pool+pool_lists)(DI), R8; \
	MOVQ	freeList_head(R8), AX; \
	MOVL	AX, CX; \
	TESTL	AX, AX; \
	JEQ	leave; \
	DECQ	CX; \
	SHLQ	$const_instanceShift, CX; \
	ADDQ	(Kretprobe_pool+pool_instances)(DI), CX; \
	MOVQ	AX, DI; \
	SHRQ	$32, DI; \
	INCQ	DI; \
	SHLQ	$32, DI; \
	ORQ	KretprobeInstance_nextFree(CX), DI; \
	LOCK; \
	CMPXCHGQ	DI, freeList_head(R8); \
	JNE	leave; \
	MOVQ	KretprobeInstance_RP(CX), DI; \
	MOVB	$1, KretprobeInstance_busy(CX); \
	MOVQ	state_part(SI), R8; \
	ADDQ	(Kretprobe_KP+Kprobe_ledger)(DI), R8; \
	INCQ	(const_accountN+8*const_entered)(R8); \
	MOVQ	DX, ret_off(CX); \
	MOVQ	(BX), DX; \
	MOVQ	DX, ret_next(CX); \
	MOVQ	(const_gGoid-const_gCalls)(BX), DI; \
	MOVQ	SLOT, DX; \
	MOVQ	DI, KretprobeInstance_Task(CX); \
	MOVQ	DX, ret_RetAddr(CX); \
	MOVQ	CX, (BX); \
	MOVQ	state_trampoline(SI), DX; \
	MOVQ	DX, SLOT

// detour calls the handler of a place's only probe, and enters a return probe after it. What
// other places have in place of that probe calls onDetour: see others (point.go). A changed
// IP is ignored: kprobes.txt §1.4, note.
//
// Mirrors onDetour, (*state).begins, onBreakpoint, (*state).begin, (*state).end: go ce86ce3d100d, asm fd3fc8177aad.
TEXT ·detour(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
slow:
	LEAQ	REGS(SP), AX
	MOVQ	DI, BX
	CALL	STATE(state_onDetour)
	JMP	back
second:
	MOVQ	point_second(DI), DI
	TESTQ	DI, DI			// it may have gone since it was compared
	JEQ	done
	CALL	STATE(state_noted)
	JMP	done
	RESTORE_RARE
changed:
	MOVQ	$const_resume_, (REGS+regs_IP)(SP)
	IRET
	SAVE_RARE
	ROOM
	SAVE(const_vecDetour)
	MOVQ	$const_point_, DI
	CMPL	STATE(state_phase), $const_idle
	JNE	slow
	MOVL	$const_pre, STATE(state_phase)
	INCQ	STATE(state_soft)
	MOVQ	point_call(DI), AX
	MOVQ	DI, STATE(state_point)
	LEAQ	REGS(SP), BX
	MOVQ	BX, STATE(const_stateFrame)
	MOVQ	$const_behind_, (REGS+regs_IP)(SP)
	MOVQ	STATE(state_part), R8
	ADDQ	Kprobe_ledger(AX), R8
	INCQ	(const_accountN+8*const_called)(R8)
	INCQ	STATE(const_stateSeq)
	MOVQ	AX, STATE(const_stateProbe)
	MOVQ	Kprobe_PreHandler(AX), DX
	CALL	(DX)
	MOVQ	$0, STATE(const_stateProbe)
	MOVQ	STATE(state_point), DI
	CMPQ	point_second(DI), $0
	JNE	second
done:
	MOVL	$const_idle, STATE(state_phase)
back:
	RESTORE
	UD2				// the end of what is copied

// PUSHES saves the flags and the registers that note uses; POPS restores them.
#define PUSHES \
	PUSHQ	AX; \
	LAHF; \
	SETOS	AX; \
	PUSHQ	AX; \
	PUSHQ	BX; \
	PUSHQ	CX; \
	PUSHQ	DX; \
	PUSHQ	SI; \
	PUSHQ	DI; \
	PUSHQ	R8

#define POPS \
	POPQ	R8; \
	POPQ	DI; \
	POPQ	SI; \
	POPQ	DX; \
	POPQ	CX; \
	POPQ	BX; \
	POPQ	AX; \
	ADDB	$0x7f, AX; \
	SAHF; \
	POPQ	AX

// plain makes no decision in assembly: it only moves registers and calls
// onDetour. With the sysctl debug.kprobes-plain set, detours begin with it.
TEXT ·plain(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
changed:
	MOVQ	$const_resume_, (REGS+regs_IP)(SP)
	IRET
	SAVE_RARE
	RESTORE_RARE
	ROOM
	SAVE(const_vecDetour)
	MOVQ	$const_point_, BX
	LEAQ	REGS(SP), AX
	CALL	STATE(state_onDetour)
	RESTORE
	UD2				// the end of what is copied

// note is for a function's entry that has a return probe and nothing else. Without an entry
// handler there is no need to save all registers or to switch stacks.
TEXT ·note(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
leave:
	MOVL	$const_idle, state_phase(SI)
busy:
	POPS
	PUSHQ	$const_where_
	PUSHQ	$const_late_
	BYTE	$0xc3			// RET: to late
	ROOM
	PUSHES
	MOVQ	trapCPU_probes(GS), SI
	CMPL	state_phase(SI), $const_idle
	JNE	busy
	MOVL	$const_pre, state_phase(SI)	// from here on, unregistering the probe waits for this CPU
	INCQ	state_soft(SI)
	MOVQ	$const_point_, DX
	MOVQ	point_note(DX), DI
	TESTQ	DI, DI
	JEQ	leave
	MOVQ	(TLS), BX
	LEAQ	64(SP), CX
	MOVQ	const_stackHi(BX), DX
	SUBQ	CX, DX
	NOTE(64(SP))
	MOVL	$const_idle, state_phase(SI)
	POPS
	UD2				// the end of what is copied

// noted is where detour continues for a return probe after a kprobe: DI is the return
// probe, SP is above the frame. Unusual cases go to onNote, which may spill its arguments
// above the return address.
TEXT ·noted(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	MOVQ	trapCPU_probes(GS), SI
	MOVQ	(8+trapFrame_g)(SP), BX
	MOVQ	(8+REGS+regs_SP)(SP), R9
	MOVQ	const_stackHi(BX), DX
	SUBQ	R9, DX
	NOTE((R9))
gone:
	RET
leave:
	LEAQ	(8+REGS)(SP), AX
	MOVQ	state_point(SI), BX
	MOVQ	point_second(BX), BX
	TESTQ	BX, BX
	JEQ	gone
	SUBQ	$16, SP
	CALL	state_onNote(SI)
	ADDQ	$16, SP
	RET

// late is where note continues when the case is not the usual one. On the stack is the
// address of the word that holds the *point.
TEXT ·late(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	SAVE(const_vecDetour)
	MOVQ	(REGS+regs_SP)(SP), AX
	MOVQ	(AX), BX
	MOVQ	(BX), BX
	ADDQ	$8, AX
	MOVQ	AX, (REGS+regs_SP)(SP)
	LEAQ	REGS(SP), AX
	CALL	STATE(state_onDetour)
	RESTORE_IP
	RESTORE
	BYTE	$0xc3			// RET; the assembler has counted pushes
	SAVE_RARE
	RESTORE_RARE
changed:
	ADDQ	$8, (REGS+regs_SP)(SP)
	IRET

// func codeAddrs() (at struct{ detour, note, plain, late, noted, trampoline uintptr })
TEXT ·codeAddrs(SB),NOSPLIT,$0-48
	MOVQ	$·detour(SB), AX
	MOVQ	AX, at_detour+0(FP)
	MOVQ	$·note(SB), AX
	MOVQ	AX, at_note+8(FP)
	MOVQ	$·plain(SB), AX
	MOVQ	AX, at_plain+16(FP)
	MOVQ	$·late(SB), AX
	MOVQ	AX, at_late+24(FP)
	MOVQ	$·noted(SB), AX
	MOVQ	AX, at_noted+32(FP)
	MOVQ	$·trampoline(SB), AX
	MOVQ	AX, at_trampoline+40(FP)
	RET
