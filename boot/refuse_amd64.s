// Reports that a machine cannot run the kernel.
//
// As in entry_amd64.s only instructions are used whose encoding means the same in 32-bit and in
// 64-bit mode, since it may be either.
//
// Source: Multiboot2 Specification 2.0, "Boot information", "Framebuffer info".

//go:build tamago

#include "go_asm.h"
#include "textflag.h"
#include "bothmodes_amd64.h"

// Multiboot2's tag of the framebuffer.
#define TAG_PICTURE	8
#define ADDRESS		8
#define ADDRESS_HIGH	12
#define PITCH		16
#define WIDTH		20
#define BITS		28	// of a pixel
#define KIND		29
#define KIND_RGB	1

#define SIZE_OF_SMALL	58	// bytes of tooSmall

// refuse prints the Go string at SI on a loader's framebuffer, in a VGA's text memory, and on COM1;
// it reports a crash to the launcher, and halts if there is none. BP = the loader's information, or
// 0.
TEXT ·refuse(SB),NOSPLIT|NOFRAME,$0
	MOVL	8(SI), CX
	MOVL	(SI), SI
	BTRL	$31, SI			// less kernelBase: paging may be off
	JMP	·show<>(SB)

// small is refuse where memory ends within the image: the text is code, which comes first in it.
TEXT ·small(SB),NOSPLIT|NOFRAME,$0
	ADDR(·tooSmall<>, SI)
	MOVL	$SIZE_OF_SMALL, CX
	JMP	·show<>(SB)

TEXT ·tooSmall<>(SB),NOSPLIT|NOFRAME,$0
	QUAD	$0x62203a65646e6f73	// sonde: b
	QUAD	$0x6c69616620746f6f	// oot fail
	QUAD	$0x206f6f74203a6465	// ed: too 
	QUAD	$0x6d20656c7474696c	// little m
	QUAD	$0x39203a79726f6d65	// emory: 9
	QUAD	$0x72612042694d2036	// 6 MiB ar
	QUAD	$0x64656465656e2065	// e needed
	BYTE	$0x0d
	BYTE	$0x0a

// show is refuse for CX bytes at SI.
TEXT ·show<>(SB),NOSPLIT|NOFRAME,$0
	CALL	·draw<>(SB)
	MOVL	$0xb8000, DI
	MOVL	SI, BX
	MOVL	CX, DX
	MOVL	$0x0f00, AX		// white on black
cell:
	MOVB	(BX), AX
	MOVW	AX, (DI)
	ADDL	$1, BX
	ADDL	$2, DI
	SUBL	$1, DX
	JNE	cell
full:
	MOVL	$0x3fd, DX
	INB
	TESTB	$0x20, AX		// room for a byte
	JEQ	full
	MOVL	$0x3f8, DX
	MOVBLZX	(SI), AX
	OUTB
	ADDL	$1, SI
	SUBL	$1, CX
	JNE	full
	MOVL	$const_crashPort, DX
	MOVL	$const_crashValue, AX
	OUTL
	CLI
	HLT
	JMP	-2(PC)

// draw draws up to CX characters at SI, as far as the font has them, in the first row of the
// framebuffer, if BP describes one with direct colours. It keeps SI, CX and BP.
TEXT ·draw<>(SB),NOSPLIT|NOFRAME,$0
	PUSHQ	SI
	PUSHQ	CX
	BTL	$0, BP			// const_viaMultiboot
	JCC	done
	LEAL	(8-const_viaMultiboot)(BP), BX
tag:
	MOVL	(BX), AX
	CMPL	AX, $TAG_PICTURE
	JEQ	found
	TESTL	AX, AX			// the last one
	JEQ	done
	MOVL	4(BX), AX
	CMPL	AX, $8
	JCS	done			// no tag is that short
	ADDL	$7, AX
	ANDL	$~7, AX
	ADDL	AX, BX
	JMP	tag
found:
	MOVBLZX	KIND(BX), AX
	CMPL	AX, $KIND_RGB
	JNE	done
	MOVL	ADDRESS_HIGH(BX), AX
	TESTL	AX, AX
	JNE	done // above the addresses that are mapped
	MOVL	ADDRESS(BX), DI
	MOVL	WIDTH(BX), AX
	SHRL	$3, AX
	CMPL	CX, AX
	JLS	fits
	MOVL	AX, CX
fits:
	ADDR(sonde∕kernel∕screen·font, DX)
character:				// at SI, to DI
	MOVBLZX	(SI), AX
	SUBL	$32, AX			// the font begins with the space
	JCS	done
	PUSHQ	CX
	PUSHQ	SI
	PUSHQ	DI
	SHLL	$4, AX
	LEAL	(DX)(AX*1), SI
	MOVL	$16, CX
row:					// 8 pixels of the byte at SI, of which bit 7 is the left one
	PUSHQ	CX
	PUSHQ	DI
	MOVBLZX	(SI), AX
	SHLL	$24, AX
	MOVL	$8, CX
pixel:
	ADDL	AX, AX
	PUSHQ	CX
	PUSHQ	AX
	SBBL	AX, AX			// white or black
	MOVBLZX	BITS(BX), CX
	ADDL	$7, CX
	SHRL	$3, CX
	REP
	STOSB
	POPQ	AX
	POPQ	CX
	SUBL	$1, CX
	JNE	pixel
	POPQ	DI
	POPQ	CX
	ADDL	PITCH(BX), DI
	ADDL	$1, SI
	SUBL	$1, CX
	JNE	row
	POPQ	DI
	POPQ	SI
	POPQ	CX
	MOVBLZX	BITS(BX), AX
	ADDL	$7, AX
	ANDL	$~7, AX			// bytes of 8 pixels
	ADDL	AX, DI
	ADDL	$1, SI
	SUBL	$1, CX
	JNE	character
done:
	POPQ	CX
	POPQ	SI
	RET
