package vmlinux

import (
	"reflect"

	"sonde/arch/amd64/goabi"
	"sonde/bpf/btf"
)

// registers writes what programs at probes get, as Linux has it, so that those that were compiled for
// other kernels find the fields by name.
func (e *encoder) registers() {
	x := btf.Type{Kind: btf.Struct, Name: "pt_regs"}
	word := e.integer(reflect.Uint)
	for _, name := range goabi.PtRegs {
		x.Members = append(x.Members, btf.Member{Name: name, Type: word, Offset: 8 * x.Size})
		x.Size += 8
	}
	e.b.Add(x)
}
