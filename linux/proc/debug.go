package proc

import (
	"sonde/arch/amd64"
	"sonde/arch/amd64/debugreg"
)

// opInt1 is the opcode of INT1.
const opInt1 = 0xf1

// watched reports whether a #DB was only a watchpoint's.
func (t *Thread) watched() bool {
	tell := t.process.table.Watched
	return tell != nil && tell(t, t.cpu.Debug())
}

// int1 reports whether a #DB was caused by INT1, which sets no bit of DR6, and not by the end of a
// step. BS may be left of a step in the kernel, which does not clear it (arch/amd64/trap). But
// without TF only an instruction that has cleared TF ends a step.
func (t *Thread) int1() bool {
	if t.cpu.Debug()&debugreg.DR6_BS == 0 {
		return true
	}
	var before [1]byte
	r := t.Regs()
	n, _ := t.Memory().CopyIn(before[:], r.IP-1)
	return r.Flags&amd64.RFLAGS_TF == 0 && n == 1 && before[0] == opInt1
}
