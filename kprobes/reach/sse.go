package reach

import (
	"fmt"

	"sonde/arch/amd64/insn"
	"sonde/kallsyms"
)

// maxCalls is how many functions the proof looks at before it gives up.
const maxCalls = 64

// KeepsSSE returns nil if the handler at addr leaves X0-X14 alone, whatever it
// calls. An indirect call counts as changing them, as does code that does not
// decode.
//
// Errors: which function it is that may change them, and the path to it.
func (g *Graph) KeepsSSE(addr uint64) error { return g.keepsSSE(addr, noReturn, nil) }

// HitKeepsSSE is KeepsSSE for all that a hit enters. Of indirect calls there, the
// rules say what they call, or they are those of handlers; and what is cold saves
// the registers first.
func (g *Graph) HitKeepsSSE() error {
	if wrong := g.check("hits", g.present(hits)); len(wrong) > 0 {
		return wrong[0]
	}
	apart := append(saved[:len(saved):len(saved)], noReturn...)
	for _, addr := range g.addrs(hits) {
		if err := g.keepsSSE(addr, apart, g.leads); err != nil {
			return err
		}
	}
	return nil
}

// keepsSSE does not look at what is in apart. If leads is not nil it knows what
// indirect calls lead to.
func (g *Graph) keepsSSE(addr uint64, apart names, leads func(*Func) []uint64) error {
	known := leads != nil
	if !known {
		leads = calls
	}
	return g.prove(addr, apart, leads, func(f *Func) string { return f.doubt(known) })
}

// prove returns the first doubt about a function that the one at addr leads to.
func (g *Graph) prove(addr uint64, apart names, leads func(*Func) []uint64, doubt func(*Func) string) (err error) {
	sym, ok := g.syms.At(addr)
	if !ok {
		return fmt.Errorf("%#x is not in a function", addr)
	}
	g.walk([]uint64{sym.Addr}, leads, func(fn kallsyms.Symbol, from Reached) Next {
		if apart.fits(fn.Name) {
			return Skip
		}
		f, ok := g.At(fn.Addr)
		switch {
		case !ok:
			err = fmt.Errorf("%s is not a function", Arrows(g.Path(from, fn.Addr)))
		case len(from) > maxCalls:
			err = fmt.Errorf("%s calls too many functions", sym.Name)
		case doubt(f) != "":
			err = fmt.Errorf("%s%s", Arrows(g.Path(from, fn.Addr)), doubt(f))
		default:
			return Into
		}
		return Stop
	})
	return err
}

// doubt returns how f may change X0-X14 by what its own code shows, "" if it does
// not. known: what its indirect calls lead to is looked at elsewhere.
func (f *Func) doubt(known bool) string {
	switch {
	case f.Err != nil:
		return ": " + f.Err.Error()
	case f.SSE >= 0:
		return fmt.Sprintf("+%#x may write SSE registers", f.SSE)
	case !known && (f.Tables || len(f.Indirect) > 0):
		return " makes calls with unknown targets"
	case f.Lost:
		return " calls code that has no symbol"
	}
	return ""
}

// mayWriteXMM is true on doubt: of the extended maps only what is known to
// work on general registers and memory passes.
func mayWriteXMM(in *insn.Inst) bool {
	if in.Prefix.Has(insn.PVEX | insn.PEVEX) {
		return true
	}
	switch in.Map {
	case insn.Map1B:
		return in.Opcode >= 0xd8 && in.Opcode <= 0xdf // x87 and MMX state
	case insn.Map0F:
		return !integer0F(in)
	}
	return true
}

// integer0F lists the instructions of map 0F that leave XMM registers alone:
// integer ones, and stores of XMM registers to memory.
func integer0F(in *insn.Inst) bool {
	op := in.Opcode
	switch {
	case op>>4 == 4, op>>4 == 8, op>>4 == 9: // cmovcc, jcc, setcc
		return true
	case op >= 0xc8 && op <= 0xcf: // bswap
		return true
	case op == 0x57 && in.Reg() == 15: // xorps X15, X15: X15 is always saved
		return true
	case op == 0x11 || op == 0x29 || op == 0x7f: // movups, movaps, movdqu to memory
		return in.HasMem()
	}
	switch op {
	case 0x01, 0x05, 0x0b, 0x0d, 0x18, 0x1e, 0x1f, 0x20, 0x21, 0x22, 0x23, 0x30, 0x31, 0x32, 0xa2, 0xa3, 0xa4, 0xa5, 0xab,
		0xac, 0xad, 0xaf, 0xb0, 0xb1, 0xb3, 0xb6, 0xb7, 0xb8, 0xba, 0xbb, 0xbc, 0xbd, 0xbe, 0xbf, 0xc0, 0xc1, 0xc7:
		return true
	case 0xae: // fences; fxrstor and ldmxcsr are not
		return in.Mod() == 3
	}
	return false
}
