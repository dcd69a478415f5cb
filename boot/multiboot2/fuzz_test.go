package multiboot2

import (
	"testing"

	"sonde/arch/amd64/phys"
	"sonde/boot/handoff"
)

// FuzzParse: for any input, Parse returns and stays inside the memory.
func FuzzParse(f *testing.F) {
	f.Add(build(mapTag())[at:], uint64(at))
	f.Add(build(one(tagEnd, nil), mapTag())[at:], uint64(at+8))
	f.Fuzz(func(t *testing.T, b []byte, pa uint64) {
		mem := append(make([]byte, at), b...)
		Parse(phys.Over(mem), at, new(handoff.Info))
		Parse(phys.Over(mem), pa, new(handoff.Info))
	})
}
