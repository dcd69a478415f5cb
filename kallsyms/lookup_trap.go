package kallsyms

// Trap context. Every trap, probe hit and crash report asks which function an
// address lies in. Load has checked all offsets, so no index here can fail.

import (
	"encoding/binary"
	"unsafe"
)

const hexDigits = "0123456789abcdef"

// Lookup finds the symbol that addr lies in, the offset of addr from its start
// and the symbol's size. An address in the padding between two functions
// belongs to neither.
//
// Context: any; does not allocate. The name points into the blob.
func (t *Table) Lookup(addr uint64) (name string, off, size uint64, ok bool) {
	i := t.find(addr)
	if i < 0 {
		return "", 0, 0, false
	}
	off = addr - t.addr(i)
	_, size, _ = t.entry(i)
	if off >= size && off != 0 {
		return "", 0, 0, false
	}
	return t.name(i), off, size, true
}

// At is Lookup for callers that want the type as well.
//
// Context: any; does not allocate.
func (t *Table) At(addr uint64) (sym Symbol, ok bool) {
	i := t.find(addr)
	if i < 0 {
		return Symbol{}, false
	}
	sym = t.symbol(i)
	if addr != sym.Addr && addr-sym.Addr >= sym.Size {
		return Symbol{}, false
	}
	return sym, true
}

// Lookup is Table.Lookup on the kernel's table.
//
// Context: any; does not allocate.
func Lookup(addr uint64) (name string, off, size uint64, ok bool) {
	t := kernel.Load()
	if t == nil {
		return "", 0, 0, false
	}
	return t.Lookup(addr)
}

// Symbolize appends "name+0x12/0x34" to buf, or "0x…" for an address that
// belongs to no symbol. It never grows buf: what does not fit is cut.
//
// Context: any; does not allocate.
func (t *Table) Symbolize(buf []byte, addr uint64) []byte {
	name, off, size, ok := "", uint64(0), uint64(0), false
	if t != nil {
		name, off, size, ok = t.Lookup(addr)
	}
	if !ok {
		return putHex(buf, addr)
	}
	buf = put(buf, name)
	buf = put(buf, "+")
	buf = putHex(buf, off)
	buf = put(buf, "/")
	return putHex(buf, size)
}

// Symbolize is Table.Symbolize on the kernel's table.
//
// Context: any; does not allocate.
func Symbolize(buf []byte, addr uint64) []byte { return kernel.Load().Symbolize(buf, addr) }

// put appends as much of s as buf has capacity for: append itself would
// allocate.
func put(buf []byte, s string) []byte {
	n := len(buf)
	buf = buf[:min(n+len(s), cap(buf))]
	copy(buf[n:], s)
	return buf
}

func putHex(buf []byte, v uint64) []byte {
	buf = put(buf, "0x")
	shift := 0
	for v>>shift > 15 {
		shift += 4
	}
	for ; shift >= 0; shift -= 4 {
		d := v >> shift & 15
		buf = put(buf, hexDigits[d:d+1])
	}
	return buf
}

// find returns the last symbol that starts at or below addr, or -1.
func (t *Table) find(addr uint64) int {
	lo, hi := 0, t.n
	for lo < hi {
		if mid := int(uint(lo+hi) >> 1); t.addr(mid) <= addr {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo - 1
}

func (t *Table) addr(i int) uint64 { return binary.LittleEndian.Uint64(t.addrs[i*addrSize:]) }

// entry returns where the name of symbol i lies in names, and the size of what
// the symbol names.
func (t *Table) entry(i int) (nameOff int, size uint64, nameLen int) {
	e := t.entries[i*entrySize : i*entrySize+entrySize]
	return int(binary.LittleEndian.Uint32(e)),
		uint64(binary.LittleEndian.Uint32(e[4:])),
		int(binary.LittleEndian.Uint16(e[8:]))
}

func (t *Table) kind(i int) byte { return t.entries[i*entrySize+10] }

func (t *Table) byName(i int) int { return int(binary.LittleEndian.Uint32(t.index[i*indexSize:])) }

// name returns the name of symbol i without copying it.
func (t *Table) name(i int) string {
	off, _, length := t.entry(i)
	if length == 0 {
		return ""
	}
	// Safe because: check has seen off+length within names, and the blob is
	// never written or unmapped while the table is in use.
	return unsafe.String(&t.names[off], length)
}
