package program

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"sonde/internal/quick"
	"sonde/kernel/abi"
)

// part is a section of a file that is made to be hostile.
type part struct {
	name   string
	kind   uint32
	linked uint32
	data   []byte
	size   uint64 // 0: that of data
}

// build makes an ELF file of sections. The first section of a file is none; its last has their names.
func build(parts ...part) []byte {
	parts = append(append([]part{{}}, parts...), part{name: "names", kind: 3})
	names := &parts[len(parts)-1]
	var at []int
	for _, p := range parts {
		at = append(at, len(names.data))
		names.data = append(append(names.data, p.name...), 0)
	}
	b := make([]byte, abi.ELFHeaderSize)
	var table []byte
	for i, p := range parts {
		s := make([]byte, sectionHeader)
		le.PutUint32(s, uint32(at[i]))
		le.PutUint32(s[4:], p.kind)
		le.PutUint64(s[24:], uint64(len(b)))
		le.PutUint64(s[32:], max(p.size, uint64(len(p.data))))
		le.PutUint32(s[40:], p.linked)
		table, b = append(table, s...), append(b, p.data...)
	}
	copy(b, "\x7fELF\x02\x01\x01")
	le.PutUint16(b[18:], abi.EM_X86_64)
	le.PutUint64(b[40:], uint64(len(b)))
	le.PutUint16(b[58:], sectionHeader)
	le.PutUint16(b[60:], uint16(len(parts)))
	le.PutUint16(b[62:], uint16(len(parts)-1))
	return append(b, table...)
}

// sparse is a file after which zeroes follow, and counts what is read of them.
type sparse struct {
	*bytes.Reader
	read int
}

func (s *sparse) ReadAt(p []byte, off int64) (int, error) {
	n, err := s.Reader.ReadAt(p, off)
	if err == io.EOF {
		clear(p[n:])
		s.read += len(p) - n
		n, err = len(p), nil
	}
	return n, err
}

// TestSparseFile: a file may have more bytes than the machine has memory.
func TestSparseFile(t *testing.T) {
	f := &sparse{Reader: bytes.NewReader(build(part{name: ".eh_frame", kind: 1, size: 4 * maxRead}))}
	if _, err := Open(f); err != nil {
		t.Error(err)
	}
	if f.read > maxRead {
		t.Errorf("%d bytes were read", f.read)
	}
}

// TestSparseSymbols: a table of zeroes, which takes no room in a sparse file, takes little in memory, too.
func TestSparseSymbols(t *testing.T) {
	f := &sparse{Reader: bytes.NewReader(build(part{name: ".symtab", kind: secSymbols, linked: 2, size: maxRead}, part{name: ".strtab", kind: 3, size: 1 << 20}))}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := Open(f); err != nil {
		t.Error(err)
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 3*maxRead {
		t.Errorf("%d MiB", used>>20)
	}
}

// TestHugeFunction: a function that is larger than any takes no memory for its instructions.
func TestHugeFunction(t *testing.T) {
	s := symbolsAt(1, func(int) uint32 { return 1 })
	le.PutUint64(s[16:], 5<<20)
	f, err := Open(bytes.NewReader(build(part{name: ".symtab", kind: secSymbols, linked: 2, data: s}, part{name: ".strtab", kind: 3, data: []byte("\x00f\x00")})))
	if err != nil {
		t.Fatal(err)
	}
	f.elf.segments = []abi.ELFSegment{{Type: abi.PT_LOAD, Flags: abi.PF_X, FileSize: 5 << 20}}
	if err := f.Boundary(0); !errors.Is(err, syscall.EILSEQ) || !strings.Contains(err.Error(), "f has 5242880 bytes") {
		t.Error(err)
	}
}

// symbolsAt makes a table of n functions whose names are at name(i).
func symbolsAt(n int, name func(i int) uint32) []byte {
	var b []byte
	for i := range n {
		s := make([]byte, symbolSize)
		le.PutUint32(s, name(i))
		s[4], s[6] = 1<<4|symFunc, 1
		b = append(b, s...)
	}
	return b
}

// pclntabOf makes Go's table of n functions, all of whose names are the rest of names from 0 on.
func pclntabOf(n int, names []byte) []byte {
	const header, fnSize = 72, 44
	b := make([]byte, header)
	le.PutUint32(b, 0xfffffff1)
	b[6], b[7] = 1, 8
	pcln := make([]byte, 8*n+4+fnSize)
	for i := range n {
		le.PutUint32(pcln[8*i:], uint32(16*i))
		le.PutUint32(pcln[8*i+4:], uint32(8*n+4))
	}
	le.PutUint32(pcln[8*n:], uint32(16*n))
	for i, v := range []int{n, 0, 0x1000, header, header, header, header, header + len(names)} {
		le.PutUint64(b[8+8*i:], uint64(v))
	}
	return append(append(b, names...), pcln...)
}

// TestLongNames: many functions whose names are one long string take no more memory, and no longer, than
// the file's length allows.
func TestLongNames(t *testing.T) {
	const many, long = 4000, 1 << 20
	names := append(bytes.Repeat([]byte("x"), long), 0)
	for what, file := range map[string][]byte{
		"symbols": build(part{name: ".symtab", kind: secSymbols, linked: 2, data: symbolsAt(many, func(i int) uint32 { return uint32(i) })}, part{name: ".strtab", kind: 3, data: names}),
		"pclntab": build(part{name: ".gopclntab", kind: 1, data: pclntabOf(many, names)}),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f, err := Open(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 64<<20 {
			t.Errorf("%s: %d MiB", what, used>>20)
		}
		for _, s := range f.Functions() {
			if len(s.Name) > maxName {
				t.Errorf("%s: a name of %d bytes", what, len(s.Name))
				break
			}
		}
	}
}

// TestManyFunctionsAtOnePlace: as many as a table can have get their sizes in no time.
func TestManyFunctionsAtOnePlace(t *testing.T) {
	const many = 300_000
	var names []byte
	at := make([]uint32, many)
	for i := range at {
		at[i] = uint32(len(names))
		names = fmt.Appendf(names, "%x\x00", i)
	}
	file := build(part{name: ".symtab", kind: secSymbols, linked: 2, data: symbolsAt(many, func(i int) uint32 { return at[i] })}, part{name: ".strtab", kind: 3, data: names})
	quick.Do(t, func() {
		f, err := Open(bytes.NewReader(file))
		if err != nil || len(f.Functions()) != many {
			t.Fatal(len(f.Functions()), err)
		}
	})
}
