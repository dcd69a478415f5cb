// Only because it names Relay here can assembly elsewhere call it: the linker has
// no other way to know that it is called so.

#include "textflag.h"

// func relay(sig uint)
TEXT ·relay(SB),NOSPLIT|NOFRAME,$0-8
	JMP	·Relay(SB)
