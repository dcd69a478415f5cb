package object

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"sonde/bpf/btf"
)

// objectOf makes a file with a program's code, symbols that the test writes, and their names.
func objectOf(code []byte, names []byte, symbols ...symbol) []byte {
	le := binary.LittleEndian
	var table []byte
	for _, y := range append([]symbol{{}}, symbols...) {
		b := make([]byte, symbolSize)
		b[0] = min(y.kind, 1) // of its name
		b[4] = 1<<4 | y.kind
		le.PutUint16(b[6:], uint16(y.section))
		le.PutUint64(b[8:], y.value)
		le.PutUint64(b[16:], y.size)
		table = append(table, b...)
	}
	sections := []struct {
		name        string
		kind, flags uint32
		link        uint32
		data        []byte
	}{{}, {"kprobe/f", 1, executable, 0, code}, {".symtab", symbolTable, 0, 3, table}, {".strtab", strings1, 0, 0, names}, {".shstrtab", strings1, 0, 0, nil}}
	var at []int
	text := &sections[len(sections)-1].data
	for _, s := range sections {
		at = append(at, len(*text))
		*text = append(append(*text, s.name...), 0)
	}
	b := make([]byte, headerSize)
	var heads []byte
	for i, s := range sections {
		h := make([]byte, sectionSize)
		le.PutUint32(h, uint32(at[i]))
		le.PutUint32(h[4:], s.kind)
		le.PutUint64(h[8:], uint64(s.flags))
		le.PutUint64(h[24:], uint64(len(b)))
		le.PutUint64(h[32:], uint64(len(s.data)))
		le.PutUint32(h[40:], s.link)
		heads, b = append(heads, h...), append(b, s.data...)
	}
	copy(b, "\x7fELF\x02\x01\x01")
	le.PutUint16(b[16:], typeRelocatable)
	le.PutUint16(b[18:], machineBPF)
	le.PutUint64(b[40:], uint64(len(b)))
	le.PutUint16(b[58:], sectionSize)
	le.PutUint16(b[60:], uint16(len(sections)))
	le.PutUint16(b[62:], uint16(len(sections)-1))
	return append(b, heads...)
}

// TestHostileSizes: what a file may make of its bytes is bounded: long names, symbols, and functions in each other.
func TestHostileSizes(t *testing.T) {
	code := bytes.Repeat([]byte{0xb7, 0, 0, 0, 0, 0, 0, 0}, 2000)
	one := symbol{kind: kindFunction, section: 1, size: uint64(len(code))}
	many := func(n int) (all []symbol) {
		for range n {
			all = append(all, one)
		}
		return all
	}
	name := []byte("\x00f\x00")
	long := append(bytes.Repeat([]byte("f"), maxName+1), 0)
	for want, data := range map[string][]byte{
		"":                              objectOf(code, name, one),
		"instructions, of all programs": objectOf(code, name, many(200)...),
		"symbols, more than":            objectOf(code, name, many(maxSymbols)...),
		"the name of symbol 0 is not in section ": objectOf(code, long, one),
	} {
		_, err := Read(data, func() (*btf.Table, error) { return nil, nil })
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.200v, want %q", err, want)
		}
	}
}
