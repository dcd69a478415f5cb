package pvh

import (
	"testing"

	"sonde/arch/amd64/phys"
	"sonde/boot/handoff"
)

// FuzzParse: for any input, Parse returns and stays inside the memory.
func FuzzParse(f *testing.F) {
	whole := build(1, "quiet -- ls", []handoff.Span{span(0x700000, 99)}, []entry{{0, 0x9fc00, 1}})
	f.Add(whole[0x100:0x140:0x140], whole[0x200:0x240:0x240], uint64(0x100))
	f.Fuzz(func(t *testing.T, head, table []byte, pa uint64) {
		b := make([]byte, 0x8000)
		copy(b[0x100:0x200], head)
		copy(b[0x200:], table)
		Parse(phys.Over(b), 0x100, new(handoff.Info))
		Parse(phys.Over(b), pa, new(handoff.Info))
	})
}
