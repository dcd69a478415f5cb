package explain

import (
	"fmt"

	"sonde/arch/amd64/insn"
	"sonde/arch/amd64/listing"
)

// Inside explains why the place cannot be probed if that is because it is
// inside an instruction: which, and which places are next to it. Nil if it is not.
func (p *Place) Inside() error {
	var err error
	off := p.off()
	insn.Walk(p.Fn.Code, func(at int, in insn.Inst) bool {
		end := at + int(in.Len)
		if at < off && off < end {
			_, text := p.asm(p.Fn.Addr+uint64(at), p.Fn.Code[at:])
			next := ""
			if end < len(p.Fn.Code) {
				next = " or " + listing.Offset(end)
			}
			err = fmt.Errorf("%s%s is byte %d of %d of the instruction at %s, %s: try %s%s",
				p.Symbol, listing.Offset(off), off-at+1, in.Len, listing.Offset(at), text, listing.Offset(at), next)
		}
		return end <= off
	})
	return err
}
