package vmlinux

import (
	"reflect"
	"strings"

	"sonde/bpf/btf"
)

// registers writes what programs at probes get, as Linux has it, so that those that were compiled for
// other kernels find the fields by name.
//
// Source: Linux, arch/x86/include/asm/ptrace.h, struct pt_regs.
func (e *encoder) registers() {
	x := btf.Type{Kind: btf.Struct, Name: "pt_regs"}
	word := e.integer(reflect.Uint)
	for _, name := range strings.Fields("r15 r14 r13 r12 bp bx r11 r10 r9 r8 ax cx dx si di orig_ax ip cs flags sp ss") {
		x.Members = append(x.Members, btf.Member{Name: name, Type: word, Offset: 8 * x.Size})
		x.Size += 8
	}
	e.b.Add(x)
}
