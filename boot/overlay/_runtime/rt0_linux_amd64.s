// Why this file is replaced: a bare machine hands over no stack with arguments,
// and memory, traps and clock must be up before the runtime. The boot code
// (boot/entry_amd64.s) calls _rt0_tamago_start when they are; the name is
// TamaGo's, whose runtime defines it as well.

#include "textflag.h"

// The ELF entry point. PVH loaders use the entry in the Xen note instead.
TEXT _rt0_amd64_linux(SB),NOSPLIT|NOFRAME,$0
	JMP	cpuinit(SB)

TEXT _rt0_amd64_linux_lib(SB),NOSPLIT|NOFRAME,$0
	JMP	cpuinit(SB)

// _rt0_tamago_start starts the runtime on the boot stack of CPU 0.
TEXT _rt0_tamago_start(SB),NOSPLIT|NOFRAME,$0
	SUBQ	$16, SP
	CALL	runtime·sondeShimInit(SB)
	MOVQ	(SP), SI		// argv
	ADDQ	$16, SP
	MOVQ	$1, DI			// argc
	STI
	JMP	runtime·rt0_go(SB)
