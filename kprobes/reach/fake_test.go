package reach

import (
	"encoding/binary"
	"testing"

	"sonde/kallsyms"
)

// A fake is an image of functions of 32 bytes, written as hexadecimal code would be.
type fake struct {
	names []string
	code  []byte
}

const (
	fakeBase = 0x1000
	fakeSize = 32
	ret      = "\xc3"
	nop      = "\x90"
)

// add appends a function; what its code leaves of the 32 bytes is padding.
func (f *fake) add(name, code string) {
	f.names = append(f.names, name)
	b := make([]byte, fakeSize)
	for i := copy(b, code); i < fakeSize; i++ {
		b[i] = 0xcc
	}
	f.code = append(f.code, b...)
}

// addr is where the function called name is, or will be: name may come later.
func (f *fake) addr(i int) uint64 { return fakeBase + uint64(i*fakeSize) }

// branch is a CALL (op E8) or JMP (E9) at offset off of the function that is added
// next, to function to.
func (f *fake) branch(op byte, off, to int) string {
	from := f.addr(len(f.names)) + uint64(off) + 5
	return string(binary.LittleEndian.AppendUint32([]byte{op}, uint32(f.addr(to)-from)))
}

func (f *fake) call(off, to int) string { return f.branch(0xe8, off, to) }
func (f *fake) jmp(off, to int) string  { return f.branch(0xe9, off, to) }

func (f *fake) graph(t *testing.T) *Graph {
	t.Helper()
	syms := []kallsyms.Symbol{{Name: "data", Addr: 0x9000, Size: 8, Type: 'D'}}
	for i, n := range f.names {
		syms = append(syms, kallsyms.Symbol{Name: n, Addr: f.addr(i), Size: fakeSize, Type: 'T'})
	}
	table, err := kallsyms.Load(kallsyms.Encode(syms))
	if err != nil {
		t.Fatal(err)
	}
	return New(table, func(addr, n uint64) []byte { return f.code[addr-fakeBase:][:n] })
}

// function returns the function called name.
func function(t *testing.T, g *Graph, name string) *Func {
	t.Helper()
	sym, err := g.syms.Addr(name)
	if err != nil {
		t.Fatal(err)
	}
	f, ok := g.At(sym.Addr)
	if !ok {
		t.Fatal(name, "is no function")
	}
	return f
}
