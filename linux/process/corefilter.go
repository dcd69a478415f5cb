package process

import (
	"fmt"
	"strconv"
	"syscall"

	"sonde/kernel/refusal"
	"sonde/kernel/vfs/ctl"
	"sonde/linux/proc"
	"sonde/linux/space"
)

// coreFilter is which mappings a core file of p has. It is written as a number in any notation of C, and read as
// eight hexadecimal digits; bits that mean nothing are ignored.
//
// Errors: EINVAL.
func coreFilter(p *proc.Process) ctl.File {
	return ctl.File{
		Read: func() ([]byte, error) { return fmt.Appendf(nil, "%08x\n", p.CoreFilter()), nil },
		Write: func(b []byte) error {
			bits, err := strconv.ParseUint(string(b), 0, 32)
			if err != nil {
				return refusal.New(syscall.EINVAL, "%.20q is not a number of 32 bits", b)
			}
			p.SetCoreFilter(uint32(bits) & space.DumpAll)
			return nil
		},
	}
}
