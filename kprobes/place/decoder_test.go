package place

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"sonde/arch/amd64/insn"
	"sonde/kallsyms"
)

// image is code at address 0x1000, which counts the bytes that are read of it.
type image struct {
	code []byte
	read int
}

func (m *image) bytes(addr, n uintptr) []byte {
	m.read += int(n)
	return slices.Clone(m.code[addr-0x1000:][:n])
}

func fn(off, n int) kallsyms.Symbol {
	return kallsyms.Symbol{Name: "f", Addr: uint64(0x1000 + off), Size: uint64(n), Type: 'T'}
}

// movs is n times a MOV of three bytes.
func movs(n int) []byte { return bytes.Repeat([]byte{0x48, 0x89, 0xc3}, n) }

// TestEveryInstructionOfALongFunction: asking for each of them used to read the
// function to its end each time.
func TestEveryInstructionOfALongFunction(t *testing.T) {
	const n = 10_000
	m := &image{code: movs(n)}
	d := Decoder{Code: m.bytes}
	for i := range 3 * n {
		in, _, err := d.At(fn(0, 3*n), i)
		if i%3 == 0 && (err != nil || in.Len != 3) || i%3 != 0 && !errors.Is(err, insn.ErrBoundary) {
			t.Fatalf("+%#x: %d bytes, %v", i, in.Len, err)
		}
	}
	if most := 3*n + headSize; m.read > most {
		t.Errorf("%d bytes are read, more than %d", m.read, most)
	}
}

// TestEntriesAgain: a function that has been read to its end is not, when only its
// entry is asked for, whatever was asked for in between.
func TestEntriesAgain(t *testing.T) {
	const n = 1000
	m := &image{code: movs(2 * n)}
	d := Decoder{Code: m.bytes}
	for range 10 {
		for _, off := range []int{0, 3 * n} {
			if _, code, err := d.At(fn(off, 3*n), 0); err != nil || len(code) < headSize {
				t.Fatalf("%d bytes, %v", len(code), err)
			}
		}
	}
	if most := 2 * (3*n + 10*headSize); m.read > most {
		t.Errorf("%d bytes are read, more than %d", m.read, most)
	}
}

// TestAnotherFunction: what is known of one function is not said of another, and one
// that does not decode to its end is refused wherever it is asked for.
func TestAnotherFunction(t *testing.T) {
	m := &image{code: append(movs(3), 0x90, 0x90, 0x06)} // 06 is no instruction
	d := Decoder{Code: m.bytes}
	for _, c := range []struct {
		fn   kallsyms.Symbol
		off  int
		size uint8
		want error
	}{
		{fn(0, 9), 6, 3, nil},
		{fn(9, 2), 1, 1, nil},
		{fn(0, 9), 1, 0, insn.ErrBoundary},
		{fn(0, 9), 9, 0, insn.ErrRange},
		{fn(9, 2), -1, 0, insn.ErrRange},
	} {
		if in, _, err := d.At(c.fn, c.off); in.Len != c.size || !errors.Is(err, c.want) {
			t.Errorf("%#x+%d: %d bytes, %v; want %d, %v", c.fn.Addr, c.off, in.Len, err, c.size, c.want)
		}
	}
	for _, off := range []int{0, 1} {
		if _, _, err := d.At(fn(10, 2), off); err == nil {
			t.Errorf("+%d of a function with data in it is found", off)
		}
	}
}
