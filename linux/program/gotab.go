package program

import "encoding/binary"

// gotab is Go's pclntab, which the runtime reads in symtab.go (pcHeader) and runtime2.go
// (_func):
//
//	header   magic uint32; 0, 0, minLC, ptrSize uint8; nfunc, nfiles, textStart, funcnames,
//	         cu, files, pctab, pcln uint64: offsets from here
//	pcln     nfunc times: entry, offset of the _func from here uint32; the end of the last uint32
//	_func    entry uint32; name int32; args int32; deferreturn, pcsp, pcfile, pcln, npcdata, cu uint32;
//	         startLine int32; funcID, flag uint8; ..
//
// Rejected: debug/gosym, which does not say where the return address is (pcsp).
type gotab struct {
	units, pctab, pcln []byte
	names, files       string
	text               uint64
	n                  int
}

// Magics: Go 1.18 and 1.20, and later ones.
const (
	magic118 = 0xfffffff0
	magic120 = 0xfffffff1
	header   = 72
)

// Fields of _func, and of its flag.
const (
	fnName  = 4
	fnSP    = 16
	fnFlag  = 41
	fnSize  = 44
	topFlag = 1 << 0 // nothing called it
	spFlag  = 1 << 1 // it writes SP
	asmFlag = 1 << 2 // it is written in assembly
)

// readGo reads pclntab, if there is one, and adds its functions.
func (f *File) readGo() {
	for _, name := range []string{".gopclntab", ".data.rel.ro.gopclntab"} {
		if data := f.elf.data(f.elf.section(name)); len(data) >= header {
			f.gotab = newGotab(data, f.goText(data))
		}
	}
	if f.gotab == nil {
		return
	}
	for i := range f.gotab.n {
		entry, end, fn := f.gotab.fn(i)
		if name := f.gotab.name(fn); fn != nil && name != "" && end > entry {
			f.funcs = append(f.funcs, Symbol{Name: name, Addr: entry, Size: end - entry, Go: true, global: true})
		}
	}
}

// goText returns where Go's code begins: C code may be before it. Where the program can
// be moved the header does not say it, but the symbol, if there are any.
func (f *File) goText(pclntab []byte) uint64 {
	if v := binary.LittleEndian.Uint64(pclntab[24:]); v != 0 {
		return v
	}
	for _, s := range f.elf.symbols(secSymbols) {
		if s.name == "runtime.text" {
			return s.value
		}
	}
	if s := f.elf.section(".text"); s != nil {
		return s.addr
	}
	return 0
}

// newGotab returns nil if data is no pclntab of this layout.
func newGotab(data []byte, text uint64) *gotab {
	word := func(n int) uint64 { return binary.LittleEndian.Uint64(data[8+8*n:]) }
	magic := binary.LittleEndian.Uint32(data)
	if magic != magic118 && magic != magic120 || data[6] != 1 || data[7] != 8 {
		return nil
	}
	size := uint64(len(data))
	if word(3) > size || word(hdrUnits) > size || word(hdrFiles) > size || word(6) > size || word(7) > size || word(0) > (size-word(7))/8 {
		return nil
	}
	return &gotab{names: string(data[word(3):]), units: data[word(hdrUnits):], files: string(data[word(hdrFiles):max(word(hdrFiles), word(6))]), pctab: data[word(6):], pcln: data[word(7):], text: text, n: int(word(0))}
}

// fn returns where function i is, and its _func, nil if that is not there.
func (g *gotab) fn(i int) (entry, end uint64, fn []byte) {
	u32 := func(off int) uint32 {
		if off+4 > len(g.pcln) {
			return 0
		}
		return binary.LittleEndian.Uint32(g.pcln[off:])
	}
	entry, end = g.text+uint64(u32(8*i)), g.text+uint64(u32(8*i+8))
	if off := uint64(u32(8*i + 4)); off+fnSize <= uint64(len(g.pcln)) {
		fn = g.pcln[off:][:fnSize]
	}
	return entry, end, fn
}

func (g *gotab) name(fn []byte) string {
	if fn == nil {
		return ""
	}
	return stringAt(g.names, binary.LittleEndian.Uint32(fn[fnName:]))
}

// Go reports whether the program has functions of Go.
//
// Context: any.
func (f *File) Go() bool { return f.gotab != nil }

// Asm reports whether pc is in a function of a Go program that is written in assembly: it may use all
// registers.
func (f *File) Asm(pc uint64) bool {
	g := f.gotab
	if g == nil {
		return false
	}
	n := g.search(pc)
	if n < 0 {
		return false
	}
	_, end, fn := g.fn(n)
	return fn != nil && pc < end && fn[fnFlag]&asmFlag != 0
}

// GoFrame returns how many bytes are between SP and the return address at pc. Not known:
// it is in no function of Go. Not ok: in one that nothing has called, or that changes
// stacks.
func (f *File) GoFrame(pc uint64) (size uint64, known, ok bool) {
	g := f.gotab
	if g == nil {
		return 0, false, false
	}
	n := g.search(pc)
	if n < 0 {
		return 0, false, false
	}
	entry, end, fn := g.fn(n)
	if fn == nil || pc >= end {
		return 0, false, false
	}
	if fn[fnFlag]&(topFlag|spFlag) != 0 {
		return 0, true, false
	}
	v, ok := g.value(binary.LittleEndian.Uint32(fn[fnSP:]), pc-entry)
	return uint64(v), true, ok && v >= 0
}

// search returns the last function that begins at pc or before; -1 if there is none.
func (g *gotab) search(pc uint64) int {
	lo, hi := 0, g.n
	for lo < hi {
		mid := (lo + hi) / 2
		if entry, _, _ := g.fn(mid); entry <= pc {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo - 1
}

// value returns what the table at off in pctab says at offset pc of its function: pairs of
// varints, by how much the value changes, zigzag, and for how many bytes it holds.
//
// Source: the Go tree, src/runtime/symtab.go, pcvalue and step.
func (g *gotab) value(off uint32, pc uint64) (int64, bool) {
	if off == 0 || uint64(off) >= uint64(len(g.pctab)) {
		return 0, false
	}
	p, v, at := g.pctab[off:], int64(-1), uint64(0)
	for first := true; ; first = false {
		d, n := binary.Uvarint(p)
		if n <= 0 || d == 0 && !first {
			return 0, false
		}
		size, m := binary.Uvarint(p[n:])
		if m <= 0 {
			return 0, false
		}
		p = p[n+m:]
		v += int64(d>>1) ^ -int64(d&1)
		if at += size; pc < at {
			return v, true
		}
	}
}
