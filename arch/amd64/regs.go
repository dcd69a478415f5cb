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

// General stores the general registers in to by their hardware numbers, as
// ModRM and REX name them.
//
// Context: any.
// Source:  Intel SDM vol. 2, "ModR/M and SIB Bytes".
func (r *Regs) General(to *[16]uint64) {
	to[0], to[1], to[2], to[3] = r.AX, r.CX, r.DX, r.BX
	to[4], to[5], to[6], to[7] = r.SP, r.BP, r.SI, r.DI
	to[8], to[9], to[10], to[11] = r.R8, r.R9, r.R10, r.R11
	to[12], to[13], to[14], to[15] = r.R12, r.R13, r.R14, r.R15
}

// Register returns the general register with that hardware number; only the low four bits of the
// number are used.
//
// Context: any.
// Source:  Intel SDM vol. 2, "ModR/M and SIB Bytes".
func (r *Regs) Register(n int8) *uint64 {
	switch n & 15 {
	case 0:
		return &r.AX
	case 1:
		return &r.CX
	case 2:
		return &r.DX
	case 3:
		return &r.BX
	case 4:
		return &r.SP
	case 5:
		return &r.BP
	case 6:
		return &r.SI
	case 7:
		return &r.DI
	case 8:
		return &r.R8
	case 9:
		return &r.R9
	case 10:
		return &r.R10
	case 11:
		return &r.R11
	case 12:
		return &r.R12
	case 13:
		return &r.R13
	case 14:
		return &r.R14
	}
	return &r.R15
}
