package program

// Trap context. The row of a function's arguments: after it is how many words of arguments there are, by which
// helpers know that there is one.

import (
	"unsafe"

	"sonde/arch/amd64/goabi"
	"sonde/gotypes"
	"sonde/probe/attach"
)

// entered keeps the arguments of a call until it returns.
func (f *Function) entered(h *attach.Hit) (wanted bool) {
	f.fill(h, h.Data)
	return true
}

// through calls a program with the row.
func (f *Function) through(h *attach.Hit, program attach.Handler) (called bool) {
	if f.Returns {
		put(h, f.results, h.Data)
		h.Call(program)
		return true
	}
	var room [rowMost + 1]uint64
	hit := *h
	hit.Data = room[:f.words+1]
	f.fill(h, hit.Data)
	hit.Call(program)
	return true
}

// fill writes the arguments of a call that is entered.
func (f *Function) fill(h *attach.Hit, row []uint64) {
	clear(row)
	put(h, f.args, row)
	row[f.words] = uint64(f.known)
}

// put writes pieces. Safe because: they are in the row, and the function has its arguments on its stack.
func put(h *attach.Hit, pieces []gotypes.Piece, row []uint64) {
	to := unsafe.Pointer(unsafe.SliceData(row))
	for i := range pieces {
		p := &pieces[i]
		at := unsafe.Add(to, p.Offset)
		if !p.OnStack {
			lowBytes(at, goabi.Go.Get(h.Regs, int(p.Reg)), p.Size)
			continue
		}
		from := pointer(uintptr(h.Regs.SP) + wordSize + uintptr(p.Stack)) // after the return address
		for n := range p.Size {
			*(*byte)(unsafe.Add(at, n)) = *(*byte)(unsafe.Add(from, n))
		}
	}
}

// lowBytes stores the low bytes of a word.
func lowBytes(at unsafe.Pointer, v uint64, size int) {
	switch size {
	case 1:
		*(*uint8)(at) = uint8(v)
	case 2:
		*(*uint16)(at) = uint16(v)
	case 4:
		*(*uint32)(at) = uint32(v)
	default:
		*(*uint64)(at) = v
	}
}

// inRow returns an argument of a hit that has a row; nil: it has fewer.
func inRow(row []uint64, i uintptr) *uint64 {
	if i >= uintptr(row[len(row)-1]) {
		return nil
	}
	return &row[i]
}
