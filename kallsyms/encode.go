package kallsyms

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"strings"
)

const (
	magic      = "sondeSYM"
	version    = 2
	headerSize = 32
	addrSize   = 8
	entrySize  = 12
	indexSize  = 4
)

// Encode packs syms into a blob for Load. The order of syms does not matter.
// A symbol without a size is given all bytes up to the next address that has a
// symbol of the same class: assembly functions often declare none. Long names are cut (see Cut). The names make a
// string table of ELF: a zero is after each, and before the first.
func Encode(syms []Symbol) []byte {
	syms = slices.Clone(syms)
	slices.SortStableFunc(syms, byAddress)
	fillSizes(syms)

	names := 1
	for i := range syms {
		syms[i].Name = Cut(syms[i].Name)
		names += len(syms[i].Name) + 1
	}
	n := len(syms)
	total := headerSize + n*(addrSize+entrySize+indexSize) + names
	blob := make([]byte, 0, total)
	blob = append(blob, magic...)
	for _, v := range []int{version, n, names, total, 0, 0} {
		blob = binary.LittleEndian.AppendUint32(blob, uint32(v))
	}
	for _, s := range syms {
		blob = binary.LittleEndian.AppendUint64(blob, s.Addr)
	}
	blob = appendEntries(blob, syms)
	for _, i := range nameOrder(syms) {
		blob = binary.LittleEndian.AppendUint32(blob, i)
	}
	blob = append(blob, 0)
	for _, s := range syms {
		blob = append(append(blob, s.Name...), 0)
	}
	return blob
}

// Names returns the part of a blob of Encode that has the names.
func Names(blob []byte) []byte {
	return blob[len(blob)-int(binary.LittleEndian.Uint32(blob[len(magic)+8:])):]
}

func appendEntries(blob []byte, syms []Symbol) []byte {
	off := 1
	for _, s := range syms {
		blob = binary.LittleEndian.AppendUint32(blob, uint32(off))
		blob = binary.LittleEndian.AppendUint32(blob, uint32(min(s.Size, math.MaxUint32)))
		blob = binary.LittleEndian.AppendUint16(blob, uint16(len(s.Name)))
		blob = append(blob, s.Type, 0) // for alignment
		off += len(s.Name) + 1
	}
	return blob
}

// byAddress orders symbols so that among those at one address the best answer
// to "what is here?" comes last, where the binary search ends: code before
// markers such as runtime.text, global before local, sized before unsized.
func byAddress(a, b Symbol) int {
	return cmp.Or(
		cmp.Compare(a.Addr, b.Addr),
		cmp.Compare(rank(a), rank(b)),
		cmp.Compare(a.Size, b.Size),
		strings.Compare(b.Name, a.Name),
	)
}

func rank(s Symbol) int {
	r := 0
	if s.Size > 0 {
		r += 2
	}
	if s.Type == class(s.Type) {
		r++
	}
	return r
}

// fillSizes gives unsized symbols the room up to the next address. syms are
// sorted. At a change of class (end markers such as runtime.etext) the size
// stays 0: the gap belongs to no symbol.
func fillSizes(syms []Symbol) {
	next := -1 // first symbol at a higher address than i
	for i := len(syms) - 1; i >= 0; i-- {
		if i+1 < len(syms) && syms[i+1].Addr > syms[i].Addr {
			next = i + 1
		}
		if syms[i].Size == 0 && next >= 0 && class(syms[next].Type) == class(syms[i].Type) {
			syms[i].Size = syms[next].Addr - syms[i].Addr
		}
	}
}

func nameOrder(syms []Symbol) []uint32 {
	order := make([]uint32, len(syms))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortStableFunc(order, func(a, b uint32) int {
		return strings.Compare(syms[a].Name, syms[b].Name)
	})
	return order
}
