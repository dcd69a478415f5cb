//go:build tamago

#include "textflag.h"

// func Rdtsc() uint64
TEXT ·Rdtsc(SB),NOSPLIT,$0-8
	RDTSC
	SHLQ	$32, DX
	ORQ	DX, AX
	MOVQ	AX, ret+0(FP)
	RET

// func haltOnce()
// STI takes effect after the next instruction, so no interrupt can fall
// between it and HLT; but an NMI can: see SkipHalt.
TEXT ·haltOnce(SB),NOSPLIT,$0
	STI
	HLT
	CLI
	RET

// func haltAt() uintptr
// STI is one byte.
TEXT ·haltAt(SB),NOSPLIT,$0-8
	MOVQ	$·haltOnce+1(SB), AX
	MOVQ	AX, ret+0(FP)
	RET

// func HaltForever()
TEXT ·HaltForever(SB),NOSPLIT,$0
	CLI
	HLT
	JMP	-2(PC)

// func IRQOff() (flags uint64)
TEXT ·IRQOff(SB),NOSPLIT,$0-8
	PUSHFQ
	POPQ	AX
	CLI
	MOVQ	AX, flags+0(FP)
	RET

// func IRQRestore(flags uint64)
TEXT ·IRQRestore(SB),NOSPLIT,$0-8
	MOVQ	flags+0(FP), AX
	PUSHQ	AX
	POPFQ
	RET

// func Pause()
TEXT ·Pause(SB),NOSPLIT,$0
	PAUSE
	RET

// func Serialize()
// CPUID serializes: Intel SDM vol. 3A, "Serializing Instructions".
TEXT ·Serialize(SB),NOSPLIT,$0
	XORL	AX, AX
	XORL	CX, CX
	CPUID
	RET

// func CPUID(leaf, sub uint32) (a, b, c, d uint32)
TEXT ·CPUID(SB),NOSPLIT,$0-24
	MOVL	leaf+0(FP), AX
	MOVL	sub+4(FP), CX
	CPUID
	MOVL	AX, a+8(FP)
	MOVL	BX, b+12(FP)
	MOVL	CX, c+16(FP)
	MOVL	DX, d+20(FP)
	RET

// func ReadCR2() uint64
TEXT ·ReadCR2(SB),NOSPLIT,$0-8
	MOVQ	CR2, AX
	MOVQ	AX, ret+0(FP)
	RET

// func ReadCR3() uint64
TEXT ·ReadCR3(SB),NOSPLIT,$0-8
	MOVQ	CR3, AX
	MOVQ	AX, ret+0(FP)
	RET

// func ReadCR4() uint64
TEXT ·ReadCR4(SB),NOSPLIT,$0-8
	MOVQ	CR4, AX
	MOVQ	AX, ret+0(FP)
	RET

// func WriteCR3(v uint64)
TEXT ·WriteCR3(SB),NOSPLIT,$0-8
	MOVQ	v+0(FP), AX
	MOVQ	AX, CR3
	RET

// func Wbinvd()
TEXT ·Wbinvd(SB),NOSPLIT,$0
	WBINVD
	RET

// func fence()
// What was stored is seen by a CPU that gets an interrupt afterwards: WRMSR to the registers
// of an x2APIC does not wait for it. Intel SDM vol. 3A, "x2APIC Register Accesses".
TEXT ·fence(SB),NOSPLIT,$0
	MFENCE
	LFENCE
	RET

// func Invlpg(va uintptr)
TEXT ·Invlpg(SB),NOSPLIT,$0-8
	MOVQ	va+0(FP), AX
	INVLPG	(AX)
	RET

// func In8(port uint16) uint8
TEXT ·In8(SB),NOSPLIT,$0-9
	MOVW	port+0(FP), DX
	INB
	MOVB	AX, ret+8(FP)
	RET

// func Out8(port uint16, v uint8)
TEXT ·Out8(SB),NOSPLIT,$0-3
	MOVW	port+0(FP), DX
	MOVB	v+2(FP), AX
	OUTB
	RET

// func In16(port uint16) uint16
TEXT ·In16(SB),NOSPLIT,$0-10
	MOVW	port+0(FP), DX
	INW
	MOVW	AX, ret+8(FP)
	RET

// func Out16(port uint16, v uint16)
TEXT ·Out16(SB),NOSPLIT,$0-4
	MOVW	port+0(FP), DX
	MOVW	v+2(FP), AX
	OUTW
	RET

// func In32(port uint16) uint32
TEXT ·In32(SB),NOSPLIT,$0-12
	MOVW	port+0(FP), DX
	INL
	MOVL	AX, ret+8(FP)
	RET

// func Out32(port uint16, v uint32)
TEXT ·Out32(SB),NOSPLIT,$0-8
	MOVW	port+0(FP), DX
	MOVL	v+4(FP), AX
	OUTL
	RET

// func rdrand() uint64
TEXT ·rdrand(SB),NOSPLIT,$0-8
	RDRANDQ	AX
	MOVQ	AX, ret+0(FP)
	RET

// func become(sp, gp, fn uintptr)
TEXT ·become(SB),NOSPLIT,$0-24
	MOVQ	fn+16(FP), AX
	MOVQ	gp+8(FP), R14
	MOVQ	sp+0(FP), SP
	XORL	BP, BP
	CALL	AX
	JMP	·HaltForever(SB)

// func ReadMMIO32(addr uintptr) uint32
TEXT ·ReadMMIO32(SB),NOSPLIT,$0-12
	MOVQ	addr+0(FP), AX
	MOVL	(AX), AX
	MOVL	AX, ret+8(FP)
	RET

// func WriteMMIO32(addr uintptr, v uint32)
TEXT ·WriteMMIO32(SB),NOSPLIT,$0-12
	MOVQ	addr+0(FP), AX
	MOVL	v+8(FP), CX
	MOVL	CX, (AX)
	RET

// func WriteMMIO8(addr uintptr, v uint8)
TEXT ·WriteMMIO8(SB),NOSPLIT,$0-9
	MOVQ	addr+0(FP), AX
	MOVB	v+8(FP), CX
	MOVB	CX, (AX)
	RET
