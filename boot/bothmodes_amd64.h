// For code that runs in 32-bit mode as well as in 64-bit mode.

// ADDR puts the address of sym into reg, by means of the return address that CALL pushes. It
// loses AX. LEAL is 6 bytes long.
#define ADDR(sym, reg) \
	CALL	·here(SB); \
	LEAL	sym(SB), reg; \
	LEAL	6(AX)(reg*1), reg
