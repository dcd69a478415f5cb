package pcln

import "encoding/binary"

// Where things are in the record of a function.
const (
	recName      = 4
	recArgs      = 8
	recDefer     = 12
	recStack     = 16
	recFiles     = 20
	recLines     = 24
	recPCData    = 28
	recUnit      = 32
	recSize      = 44
	flagByte     = -3 // from its end
	funcDataByte = -1 // the number of those
	pcdataInline = 2  // abi.PCDATA_InlTreeIndex
	dataInline   = 3  // abi.FUNCDATA_InlTree
	callSize     = 16
	maxPCData    = 1 << 10 // of a function; Go has four
)

// Func is one function of the image: code from Addr to End.
type Func struct {
	Addr, End uint64
	t         *Table
	record    []byte
}

// Assembly is the flag of a function that is written in assembly (abi.FuncFlagAsm).
const Assembly uint8 = 1 << 2

// Flags returns the function's flags; false: its record is not there.
//
// Context: any.
func (f Func) Flags() (flags uint8, ok bool) { return f.byteAt(flagByte) }

// byteAt is a byte of the record, counted from its end.
func (f Func) byteAt(off int) (uint8, bool) {
	if f.t == nil || len(f.record) < f.t.record {
		return 0, false
	}
	return f.record[f.t.record+off], true
}

// ArgBytes returns how many bytes of arguments and results the function has on the stack; false: that
// is not known.
//
// Context: any.
func (f Func) ArgBytes() (n uint32, ok bool) {
	n = u32(f.record, recArgs)
	return n, n < 1<<31
}

// Tables returns how many entries the function's funcdata has.
//
// Context: any.
func (f Func) Tables() int {
	n, _ := f.byteAt(funcDataByte)
	return int(n)
}

// Data returns entry i of the function's funcdata; false: it has none.
//
// Context: any.
func (f Func) Data(i int) (off uint32, ok bool) {
	n := u32(f.record, recPCData)
	if i >= f.Tables() || n > maxPCData {
		return 0, false
	}
	off = u32(f.record, f.t.record+4*int(n)+4*i)
	return off, off != none
}

// Line returns the file and the line of the instruction at addr; false: that is not known.
//
// Context: any.
func (f Func) Line(addr uint64) (file string, line int, ok bool) {
	files, lines := f.values(recFiles), f.values(recLines)
	if addr < f.Addr || addr >= f.End || files.to(addr) == 0 || lines.to(addr) == 0 || lines.value < 1 {
		return "", 0, false
	}
	file = text(f.t.files, f.t.file(u32(f.record, recUnit), files.value))
	return file, int(lines.value), file != ""
}

// Name returns the function's name, as the linker has it.
func (f Func) Name() string { return f.t.name(u32(f.record, recName)) }

// Recovers returns where the function continues after a panic from which it has recovered, or 0.
func (f Func) Recovers() uint64 {
	if off := u32(f.record, recDefer); off != 0 && off != none {
		return f.Addr + uint64(off)
	}
	return 0
}

// Frame returns how far the stack pointer is below the address that the function returns to, in bytes, before the
// instruction at addr; false: that is not known.
func (f Func) Frame(addr uint64) (bytes int, ok bool) {
	s := f.values(recStack)
	ok = addr >= f.Addr && addr < f.End && s.to(addr) != 0 && s.value >= 0
	return int(s.value), ok
}

// A Span is code of one line, in one copy.
type Span struct {
	Begin, End uint64
	Line       int
	Copy       int // the innermost copy that it is in, as Func.Caller counts; -1: it is no copy's
	file       uint32
}

// File returns the name of a span's file.
func (f Func) File(s Span) string { return text(f.t.files, s.file) }

// Spans calls yield for the function's code, in the order of addresses.
func (f Func) Spans(yield func(Span) bool) {
	files, lines, copies := f.values(recFiles), f.values(recLines), f.inlined()
	unit := u32(f.record, recUnit)
	for at := f.Addr; at < f.End; {
		end := min(files.to(at), lines.to(at), copies.to(at))
		if end <= at {
			return
		}
		s := Span{at, min(end, f.End), int(lines.value), int(copies.value), f.t.file(unit, files.value)}
		if !yield(s) {
			return
		}
		at = end
	}
}

// values are the steps whose offset is at off of the record.
func (f Func) values(off int) steps { return f.stepsAt(u32(f.record, off)) }

func (f Func) stepsAt(off uint32) steps {
	if off == 0 || off == none { // there is no table
		return steps{value: -1, end: f.End}
	}
	return steps{rest: from(f.t.steps, off), value: -1, end: f.Addr, first: true}
}

// inlined are the numbers of copies by address.
func (f Func) inlined() steps {
	if n := u32(f.record, recPCData); n == none || n <= pcdataInline {
		return steps{value: -1, end: f.End}
	}
	return f.values(f.t.record + 4*pcdataInline)
}

// steps is a table of values by address, of which all up to end have been read.
type steps struct {
	rest  []byte
	value int32
	end   uint64
	first bool
}

// to continues to the value at an address, and returns where that ends; 0: there is none.
func (s *steps) to(at uint64) uint64 {
	for s.end <= at {
		dv, n := binary.Uvarint(s.rest)
		if n <= 0 || dv == 0 && !s.first {
			return 0
		}
		da, m := binary.Uvarint(s.rest[n:])
		if m <= 0 || da == 0 || da > 1<<32 {
			return 0
		}
		s.rest, s.first = s.rest[n+m:], false
		s.value += int32(dv>>1) ^ -int32(dv&1)
		s.end += da
	}
	return s.end
}

// call is one that the compiler has replaced by a copy of the function.
type call struct {
	name uint32
	from uint64 // an instruction of the line that the call is in
}

// call returns what copy i stands for; false: there is no such copy.
func (f Func) call(i int) (c call, ok bool) {
	tree, ok := f.Data(dataInline)
	if !ok || i < 0 {
		return c, false
	}
	entry := from(f.t.data, tree)
	if i >= len(entry)/callSize {
		return c, false
	}
	entry = entry[i*callSize:]
	return call{u32(entry, 4), f.Addr + uint64(u32(entry, 8))}, true
}

// parent returns the number of the copy that the call of copy i is in; -1: it is in f itself. A
// parent has the lower number.
func (f Func) parent(i int) int {
	c, ok := f.call(i)
	if s := f.inlined(); ok && s.to(c.from) != 0 && int(s.value) < i {
		return int(s.value)
	}
	return -1
}

// Copy returns the name of the function that copy i is of, and the address of an instruction of
// the line that calls it.
func (f Func) Copy(i int) (name string, site uint64) {
	c, ok := f.call(i)
	if !ok {
		return "", 0
	}
	return f.t.name(c.name), c.from
}
