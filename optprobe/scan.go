package optprobe

import (
	"encoding/binary"
	"math/bits"

	"sonde/arch/amd64/insn"
)

// JumpSize is the length of the jump to a detour.
const JumpSize = insn.JumpSize

// Function is what the check must know about a function.
type Function struct {
	Addr    uint64
	Code    []byte   // as the image has it, without breakpoints
	Entries []uint64 // addresses in it that other code leads to: entries.Table.Within

	// Word reads a word of read-only data, where jump tables are, or returns false if there
	// is none at addr. Nil means that there is no read-only data.
	Word func(addr uint64) (v uint64, ok bool)
}

// A Scan holds one function at a time. The zero Scan is ready for Read; reusing a Scan
// reuses its memory.
//
// Context: goroutine, one at a time.
type Scan struct {
	fn    Function
	cells []byte // one per byte of code, rounded up to a multiple of 8: a set of the bits below
	jumps []int  // offsets of indirect jumps
	whole Obstacle
}

// What is known about a byte of code: how it can be reached other than from the instruction
// before it, and whether an instruction begins there.
const (
	byBranch = 1 << iota
	byTable
	byEntry
	byAddress
	byReturn
	ways   = 1<<iota - 1
	begin  = 0x80
	onEach = 0x0101_0101_0101_0101 // times a set gives eight cells with that set
)

// Read decodes fn and notes where its instructions begin and what leads to them. It returns
// the first reason that holds for the whole function; Check then repeats it for each
// offset. fn.Code must not change while the results are used. Read allocates only for a
// function longer, or with more indirect jumps, than any before.
func (s *Scan) Read(fn Function) Obstacle {
	s.fn, s.jumps = fn, s.jumps[:0]
	if n := (len(fn.Code) + 7) &^ 7; n > cap(s.cells) {
		s.cells = make([]byte, n, n+n/2)
	} else {
		s.cells = s.cells[:n]
		clear(s.cells)
	}
	if s.whole = s.decode(); s.whole.Reason == Fine {
		s.enter()
		s.whole = s.resolveJumps()
	}
	if s.whole.Reason == Fine {
		s.whole = s.overlaps()
	}
	return s.whole
}

// decode goes over the instructions from the first to the last.
func (s *Scan) decode() Obstacle {
	code := s.fn.Code
	for off := 0; off < len(code); {
		in, err := insn.Decode(code[off:])
		if err != nil {
			return Obstacle{Reason: NoDecode, Off: off}
		}
		s.cells[off] |= begin
		if in.Flow != insn.Next {
			s.flow(off, &in)
		} else if in.RIPRel && in.Map == insn.Map1B && in.Opcode == opLEA {
			s.reach(uint64(off)+uint64(in.Len)+uint64(in.Disp()), byAddress)
		}
		off += int(in.Len)
	}
	return Obstacle{}
}

// flow notes where an instruction that is not Next leads.
func (s *Scan) flow(off int, in *insn.Inst) {
	switch in.Flow {
	case insn.Jmp, insn.Jcc, insn.Loop, insn.Xbegin:
		s.reach(in.Target(uint64(off)), byBranch)
	case insn.Call:
		s.reach(in.Target(uint64(off)), byBranch)
		s.reach(uint64(off)+uint64(in.Len), byReturn)
	case insn.CallInd:
		s.reach(uint64(off)+uint64(in.Len), byReturn)
	case insn.JmpInd:
		s.jumps = append(s.jumps, off)
	}
}

// reach notes that code leads to offset off. It ignores offsets outside the function;
// negative ones are large, as they are unsigned.
func (s *Scan) reach(off uint64, way byte) {
	if off < uint64(len(s.fn.Code)) {
		s.cells[off] |= way
	}
}

// enter notes the entries that the function's own code does not show.
func (s *Scan) enter() {
	for _, addr := range s.fn.Entries {
		s.reach(addr-s.fn.Addr, byEntry)
	}
}

// overlaps refuses a function with a way to where no instruction begins: its bytes have two
// meanings, and only one of them was checked. It checks eight cells at once.
func (s *Scan) overlaps() Obstacle {
	for off := 0; off+8 <= len(s.cells); off += 8 {
		c := binary.LittleEndian.Uint64(s.cells[off:])
		reached := c&(ways*onEach) + (begin-1)*onEach // sets begin in each cell with a way
		if odd := reached &^ c & (begin * onEach); odd != 0 {
			return Obstacle{Reason: Overlap, Off: off + bits.TrailingZeros64(odd)/8}
		}
	}
	return Obstacle{}
}
