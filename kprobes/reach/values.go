package reach

import (
	"slices"
	"strings"

	"sonde/arch/amd64/insn"
)

// Direct calls are not all that a function makes: it may call a func value, or a method of an
// interface. Often the callee can be seen, though: a closure's func value, and the table of an
// interface's methods, are constants, whose address the code takes, or which a variable holds
// that it loads. What is seen is not sure to be called; so it is for warnings alone.

// The words of a table of methods, an itab: the types, the hash, and from here on the methods.
// Source: Go, internal/abi.ITab.
const (
	itabMethods = 3
	mostMethods = 64
)

// note keeps the address that an instruction takes or loads from, if it is outside of f.
func (f *Func) note(off int, in *insn.Inst) {
	if !in.RIPRel || in.Map != insn.Map1B {
		return
	}
	addr := f.Addr + uint64(off) + uint64(in.Len) + uint64(in.Disp())
	switch {
	case addr-f.Addr < f.Size:
	case in.Opcode == 0x8d && !slices.Contains(f.taken, addr): // LEA
		f.taken = append(f.taken, addr)
	case in.Opcode == 0x8b && !slices.Contains(f.loaded, addr): // MOV
		f.loaded = append(f.loaded, addr)
	}
}

// seen returns the functions that f calls, and those that it may call by a value. The
// runtime's own values are left out: which it calls, and where, its names say.
func (g *Graph) seen(f *Func) []uint64 {
	if strings.HasPrefix(f.Name, "runtime.") || strings.HasPrefix(f.Name, "internal/") {
		return f.Calls
	}
	all := slices.Clip(f.Calls)
	for _, addr := range f.taken {
		if g.begins(addr) {
			all = append(all, addr)
		} else {
			all = append(all, g.callees(addr)...)
		}
	}
	if len(f.Indirect) > 0 {
		for _, addr := range f.loaded {
			if value, ok := g.word(addr); ok {
				all = append(all, g.callees(value)...)
			}
		}
	}
	return all
}

// callees are the functions of the func value or the table of methods at addr; none if there is
// neither.
func (g *Graph) callees(addr uint64) (all []uint64) {
	first, ok := g.word(addr)
	if ok && g.begins(first) {
		return []uint64{first}
	}
	for i := uint64(itabMethods); ok && i < itabMethods+mostMethods; i++ {
		method, there := g.word(addr + 8*i)
		if !there || !g.begins(method) {
			break
		}
		all = append(all, method)
	}
	return all
}

// begins reports whether a function begins at addr.
func (g *Graph) begins(addr uint64) bool {
	sym, ok := g.syms.At(addr)
	return ok && sym.IsText() && sym.Addr == addr
}

func (g *Graph) word(addr uint64) (uint64, bool) {
	if g.Word == nil {
		return 0, false
	}
	return g.Word(addr)
}
