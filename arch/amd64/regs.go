package amd64

// Regs is the interrupted context: what Linux calls pt_regs, in its order.
// A handler may change any field; the change takes effect when the trap returns.
type Regs struct {
	R15, R14, R13, R12, BP, BX uint64
	R11, R10, R9, R8           uint64
	AX, CX, DX, SI, DI         uint64
	Vector                     uint64 // exception or interrupt number
	Err                        uint64 // the CPU's error code, 0 where it pushes none
	IP, CS, Flags, SP, SS      uint64 // as the CPU pushed them
}
