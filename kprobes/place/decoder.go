package place

import (
	"sonde/arch/amd64/insn"
	"sonde/kallsyms"
)

// A Decoder finds instructions. It remembers what is expensive to find out: which
// functions decode to their ends, and where the instructions of one function begin,
// the last that was asked for: probing every instruction of a long function would
// otherwise read it to its end for each. Code does not change. The user of a
// Decoder must hold a lock.
type Decoder struct {
	// Code returns the n bytes of code at addr as the image has them.
	Code func(addr, n uintptr) []byte

	whole map[uint64]bool // functions that decode to their ends
	last  function
}

// function is one whose instructions are known.
type function struct {
	addr   uint64
	code   []byte
	begins []bool // by offset
}

// headSize is more than a stack check is long, and than an instruction.
const headSize = 48

// At returns the instruction at off in fn, and code of fn that begins with its first
// instruction and has that one in it.
//
// Errors: insn.ErrRange, insn.ErrBoundary, or what insn.Decode says of any
// instruction of fn.
func (d *Decoder) At(fn kallsyms.Symbol, off int) (insn.Inst, []byte, error) {
	if off == 0 && d.whole[fn.Addr] {
		code := d.Code(uintptr(fn.Addr), min(uintptr(fn.Size), headSize))
		in, err := insn.Decode(code)
		return in, code, err
	}
	if d.last.code == nil || d.last.addr != fn.Addr {
		if err := d.read(fn); err != nil {
			return insn.Inst{}, nil, err
		}
	}
	f := &d.last
	switch {
	case off < 0 || off >= len(f.code):
		return insn.Inst{}, nil, insn.ErrRange
	case !f.begins[off]:
		return insn.Inst{}, nil, insn.ErrBoundary
	}
	in, err := insn.Decode(f.code[off:])
	return in, f.code, err
}

// read makes fn the last function, if it decodes to its end.
func (d *Decoder) read(fn kallsyms.Symbol) error {
	code := d.Code(uintptr(fn.Addr), uintptr(fn.Size))
	begins := make([]bool, len(code))
	if _, err := insn.Walk(code, func(off int, _ insn.Inst) bool {
		begins[off] = true
		return true
	}); err != nil {
		return err
	}
	if d.whole == nil {
		d.whole = map[uint64]bool{}
	}
	d.whole[fn.Addr] = true
	d.last = function{fn.Addr, code, begins}
	return nil
}
