package explain

import (
	"sonde/arch/amd64/insn"
	"sonde/arch/amd64/listing"
)

const width = listing.Width

type row = listing.Row

// asm returns the instruction that code begins with, at address addr, as text.
func (p *Place) asm(addr uint64, code []byte) (insn.Inst, string) {
	f := listing.Function{Addr: p.Fn.Addr, Size: uint64(len(p.Fn.Code)), Name: p.Name}
	return f.Asm(addr, code)
}

func offset(n int) string { return listing.Offset(n) }

func cut(s string, n int) string { return listing.Cut(s, n) }

func hexBytes(b []byte) string { return listing.Bytes(b) }
