package program

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"sonde/arch/amd64/insn"
	"sonde/linux/program/cfi"
)

// Exits are all the instructions by which a function returns. One that never does, as _start, has none.
type Exits struct {
	Returns []uint64 // RET
	// Jumps are those after which another function may return for it: tail calls. Where one
	// goes that is conditional, or through a register, is known when it is executed: it leaves the function if
	// that is not in Parts.
	Jumps []uint64
	Parts []Span // its code: compilers move what is seldom executed elsewhere
}

// Span is a range of addresses.
type Span struct{ Begin, End uint64 }

// Has reports whether addr is in the function.
//
// Context: any.
func (e *Exits) Has(addr uint64) bool {
	return slices.ContainsFunc(e.Parts, func(s Span) bool { return addr >= s.Begin && addr < s.End })
}

const (
	maxParts = 8       // of a function; compilers make two
	maxCode  = 1 << 20 // bytes of a function in which all exits are looked for
	maxAsked = 4096    // places of a function of which .eh_frame is asked
)

// Exits finds the exits of the function that begins at addr. It is sure of them, or there is an
// error that says why not:
//
//   - .eh_frame says where the function begins and ends, and all in between decodes;
//   - direct jumps go to where instructions begin, and the last instruction does not run on;
//   - .eh_frame says for each jump that may leave whether the return address is on top of the stack
//     there. If it is, the jump may be a tail call, and is one of Jumps. If not, a jump through a
//     register stays in the function (a switch, a computed goto), and a direct one goes to
//     another part of it, which is treated likewise;
//   - SP is not loaded, as where stacks are switched: another function may return for it then.
func (f *File) Exits(addr uint64) (*Exits, error) {
	w := exitWalk{file: f, begins: map[uint64]bool{}, exits: new(Exits)}
	if err := w.part(addr); err != nil {
		return nil, err
	}
	if w.exits.Parts[0].Begin != addr {
		return nil, errors.New("no function begins there, as .eh_frame says")
	}
	for len(w.jumps) > 0 {
		j := w.jumps[0]
		w.jumps = w.jumps[1:]
		if err := w.follow(j); err != nil {
			return nil, err
		}
	}
	for _, to := range w.inner {
		switch {
		case to == addr:
			return nil, errors.New("it jumps to its own beginning")
		case !w.begins[to]:
			return nil, fmt.Errorf("a jump goes into an instruction, at %#x", to)
		}
	}
	return w.exits, nil
}

// exitWalk looks for exits.
type exitWalk struct {
	file   *File
	exits  *Exits
	begins map[uint64]bool // instructions
	jumps  []jump          // whose targets are not known to be in the function
	inner  []uint64        // targets of those that are
	size   uint64
	asked  int
}

type jump struct {
	at, to uint64
	flow   insn.Flow
}

// part adds the code that .eh_frame says is one piece with addr.
func (w *exitWalk) part(addr uint64) error {
	e, ok := w.file.frames.Find(addr)
	if !ok {
		return fmt.Errorf("%#x is not in .eh_frame", addr)
	}
	w.size += e.End - e.Begin
	if len(w.exits.Parts) == maxParts || w.size > maxCode {
		return errors.New("it has too many parts, or too much code")
	}
	code, err := w.file.Code(e.Begin, e.End-e.Begin)
	if err != nil {
		return err
	}
	w.exits.Parts = append(w.exits.Parts, Span{e.Begin, e.End})
	last := insn.Next
	var odd error
	end, err := insn.Walk(code, func(off int, in insn.Inst) bool {
		w.begins[e.Begin+uint64(off)] = true
		last = in.Flow
		odd = w.instruction(e.Begin+uint64(off), in)
		return odd == nil
	})
	switch {
	case odd != nil:
		return odd
	case err != nil:
		return fmt.Errorf("it does not decode to its end, at %#x: %v", e.Begin+uint64(end), err)
	case last.FallsThrough() && last != insn.Hlt:
		return fmt.Errorf("it runs on at its end, %#x", e.End)
	}
	return nil
}

// instruction looks at one.
func (w *exitWalk) instruction(at uint64, in insn.Inst) error {
	switch in.Flow {
	case insn.Ret:
		if in.ImmLen != 0 {
			return fmt.Errorf("it pops arguments when it returns, at %#x", at)
		}
		w.exits.Returns = append(w.exits.Returns, at)
	case insn.Jmp, insn.Jcc, insn.Loop, insn.JmpInd:
		w.jumps = append(w.jumps, jump{at, in.Target(at), in.Flow})
	case insn.Next:
		if loadsSP(in) {
			return w.switches(at)
		}
	case insn.FarJmp, insn.FarRet, insn.Iret, insn.Sysret, insn.Sysexit, insn.Xbegin, insn.Other:
		return fmt.Errorf("it may leave by %v, at %#x", in.Flow, at)
	}
	return nil
}

// loadsSP reports whether the instruction gives SP a value that is not made of the one it has.
func loadsSP(in insn.Inst) bool {
	if in.Map != insn.Map1B || in.Prefix.Has(insn.PVEX|insn.PEVEX) {
		return false
	}
	switch op := in.Opcode; op {
	case 0x8B: // MOV
		return in.Reg() == insn.RSP
	case 0x89, 0xC7: // MOV
		return in.RMReg() == insn.RSP
	case 0x87: // XCHG
		return in.Reg() == insn.RSP || in.RMReg() == insn.RSP
	case 0x5C, 0x94, 0xBC: // POP, XCHG, MOV
		return in.REX&insn.REXB == 0
	}
	return false
}

// switches refuses an instruction that loads SP, unless the frame is known by another register: then
// it gives back what the function has taken of its own stack.
func (w *exitWalk) switches(at uint64) error {
	if row, err := w.row(at); err != nil || row.Known && row.Reg == cfi.RSP {
		return fmt.Errorf("it switches stacks, at %#x", at)
	}
	return nil
}

// row returns what .eh_frame says of a place.
func (w *exitWalk) row(at uint64) (cfi.Row, error) {
	e, ok := w.file.frames.Find(at)
	if !ok {
		return cfi.Row{}, fmt.Errorf("%#x is not in .eh_frame", at)
	}
	if w.asked++; w.asked > maxAsked {
		return cfi.Row{}, errors.New("it has too many jumps")
	}
	row, err := e.Row(at)
	if err != nil {
		err = fmt.Errorf("%w at %#x", errNoPlace, at)
	}
	return row, err
}

var errNoPlace = errors.New(".eh_frame does not say where the return address is")

// follow finds out whether a jump leaves the function.
func (w *exitWalk) follow(j jump) error {
	if j.flow != insn.JmpInd && w.exits.Has(j.to) {
		w.inner = append(w.inner, j.to)
		return nil
	}
	top, err := w.onTop(j.at)
	switch {
	case err != nil:
		return err
	case j.flow == insn.JmpInd && !top:
		return nil
	case j.flow == insn.JmpInd || top && w.other(j.to):
		w.exits.Jumps = append(w.exits.Jumps, j.at)
		return nil
	}
	w.inner = append(w.inner, j.to)
	return w.part(j.to)
}

// onTop reports whether the return address is on top of the stack.
func (w *exitWalk) onTop(at uint64) (bool, error) {
	row, err := w.row(at)
	if err == nil && !row.Known {
		err = fmt.Errorf("%w at %#x", errNoPlace, at)
	}
	if err != nil {
		return false, err
	}
	return row.Reg == cfi.RSP && row.Offset == 8, nil
}

// other reports whether what stands at addr is another function, and not a part that has been moved
// away: one that has a name, but not that of a part, or that .eh_frame does not know as code of a
// compiler's.
func (w *exitWalk) other(addr uint64) bool {
	if s, off, ok := w.file.At(addr); ok && s.Name != "" {
		return off == 0 && !strings.Contains(s.Name, ".cold")
	}
	_, err := w.onTop(addr)
	return err != nil
}
