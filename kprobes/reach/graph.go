package reach

import (
	"slices"
	"sync"

	"sonde/arch/amd64/insn"
	"sonde/kallsyms"
)

// Graph is the functions of an image and where direct calls and jumps lead from
// each. A function is read when it is first asked for, and once: what its code
// says is kept, and the code does not change.
type Graph struct {
	syms *kallsyms.Table
	code func(addr, n uint64) []byte

	// Word returns the word of the image's data at addr; false: none is there. It may be nil:
	// then no func values are seen.
	Word func(addr uint64) (uint64, bool)

	mu    sync.Mutex
	known map[uint64]*Func // guarded by mu; by address
}

// New returns the graph of the image whose symbols are syms. code returns n bytes
// of the image at addr, as they were linked and without breakpoints, or nil.
func New(syms *kallsyms.Table, code func(addr, n uint64) []byte) *Graph {
	return &Graph{syms: syms, code: code, known: map[uint64]*Func{}}
}

// Func is what the code of one function says about itself.
type Func struct {
	kallsyms.Symbol

	// Calls are the functions that direct calls and jumps lead to, by address,
	// each once and not this one.
	Calls []uint64
	// Tails are those of Calls that it jumps to: they return in its place.
	Tails []uint64
	// Lost is set when a direct call or jump leads to what has no symbol.
	Lost bool
	// Indirect are the offsets of calls and jumps through a register or memory.
	// A jump through a table of this function, as a switch has it, is none.
	Indirect []int
	// Tables is set when there are jumps through tables.
	Tables bool
	// SSE is the offset of the first instruction that may write X0-X14, -1 without one.
	SSE int
	// Moves is the offset of the first instruction that may write IP or SP of an amd64.Regs, -1 without one.
	Moves int
	// Stack is what it does to SP beyond making a frame.
	Stack Stack
	// Frame is the most that it takes of the stack, in bytes, with its return address.
	Frame int
	// taken are the addresses outside of it that it takes, loaded those that it loads from.
	taken, loaded []uint64
	// Err says that the function does not decode to its end, or is empty.
	Err error
}

// At returns the function that addr lies in. False: there is none.
func (g *Graph) At(addr uint64) (*Func, bool) {
	sym, ok := g.syms.At(addr)
	if !ok || !sym.IsText() {
		return nil, false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	f, ok := g.known[sym.Addr]
	if !ok {
		f = g.read(sym)
		g.known[sym.Addr] = f
	}
	return f, true
}

// read decodes the code of sym.
func (g *Graph) read(sym kallsyms.Symbol) *Func {
	f := &Func{Symbol: sym, SSE: -1, Moves: -1, Frame: 8}
	code := g.code(sym.Addr, sym.Size)
	if len(code) == 0 {
		f.Err = insn.ErrRange
		return f
	}
	_, f.Err = insn.Walk(code, func(off int, in insn.Inst) bool {
		g.flow(f, off, &in)
		if f.SSE < 0 && mayWriteXMM(&in) {
			f.SSE = off
		}
		if f.Moves < 0 && mayMove(&in) {
			f.Moves = off
		}
		f.Stack.note(&in)
		f.note(off, &in)
		f.Frame += frame(&in)
		return true
	})
	return f
}

// flow notes where the instruction at off leads to.
func (g *Graph) flow(f *Func, off int, in *insn.Inst) {
	switch in.Flow {
	case insn.Call, insn.Jmp, insn.Jcc, insn.Loop:
		to, ok := g.reach(f, in.Target(f.Addr+uint64(off)))
		if ok && in.Flow != insn.Call && !slices.Contains(f.Tails, to) {
			f.Tails = append(f.Tails, to)
		}
	case insn.JmpInd:
		if m, ok := in.MemOperand(); ok && m.Index != insn.NoReg && m.Scale == 8 {
			f.Tables = true
			return
		}
		fallthrough
	case insn.CallInd:
		f.Indirect = append(f.Indirect, off)
	}
}

// reach notes that f leads to addr. ok: to is the other function that is there.
func (g *Graph) reach(f *Func, addr uint64) (to uint64, ok bool) {
	if addr-f.Addr < f.Size {
		return 0, false
	}
	sym, found := g.syms.At(addr)
	if !found || !sym.IsText() {
		f.Lost = true
		return 0, false
	}
	if sym.Addr == f.Addr {
		return 0, false
	}
	if !slices.Contains(f.Calls, sym.Addr) {
		f.Calls = append(f.Calls, sym.Addr)
	}
	return sym.Addr, true
}
