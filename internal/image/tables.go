package image

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// runtimeTables are the runtime's tables of functions.
//
// Source: Go 1.26, runtime/symtab.go, pcHeader and moduledata; runtime/runtime2.go, _func.
type runtimeTables struct {
	n                  int
	names, steps, list []byte
	sizes              map[uint32]int // of what is in go:func.* by its place; what is taken is not there
	taken              map[uint32]bool
}

const (
	fixedRecord = 44
	noFuncdata  = ^uint32(0)
)

func newRuntimeTables(tab []byte) *runtimeTables {
	part := func(i int) []byte { return tab[binary.LittleEndian.Uint64(tab[8+8*i:]):] }
	p := &runtimeTables{n: int(binary.LittleEndian.Uint64(tab[8:])), names: part(3), steps: part(6), list: part(7),
		sizes: map[uint32]int{}, taken: map[uint32]bool{}}
	var places []uint32
	for i := range p.n {
		_, data := p.words(p.record(i))
		places = append(places, data...)
	}
	slices.Sort(places)
	places = slices.Compact(places)
	for i := range len(places) - 1 {
		if places[i+1] != noFuncdata {
			p.sizes[places[i]] = int(places[i+1] - places[i])
		}
	}
	return p
}

func (p *runtimeTables) record(i int) []byte {
	return p.list[binary.LittleEndian.Uint32(p.list[8*i+4:]):]
}

func (p *runtimeTables) name(record []byte) string {
	name := p.names[binary.LittleEndian.Uint32(record[4:]):]
	return string(name[:bytes.IndexByte(name, 0)])
}

// words are where a function's steps are, and what is in go:func.* of it.
func (p *runtimeTables) words(record []byte) (steps, data []uint32) {
	word := func(at int) uint32 { return binary.LittleEndian.Uint32(record[at:]) }
	steps = []uint32{word(16), word(20), word(24)}
	end := fixedRecord + 4*int(word(28))
	for at := fixedRecord; at < end; at += 4 {
		steps = append(steps, word(at))
	}
	for i := range int(record[43]) {
		data = append(data, word(end+4*i))
	}
	return steps, data
}

// take is the size of what no other function has taken.
func (p *runtimeTables) take(record []byte) int {
	steps, data := p.words(record)
	const place = 8 // in the list of functions
	size := place + fixedRecord + 4*(len(steps)-3+len(data)) + len(p.name(record)) + 1
	for _, at := range steps {
		if at != 0 && !p.taken[at] {
			p.taken[at] = true
			size += sizeOfSteps(p.steps[at:])
		}
	}
	for _, at := range data {
		size += p.sizes[at]
		delete(p.sizes, at)
	}
	return size
}

// sizeOfSteps is how many bytes a table has that says what is true from which address on: pairs of numbers of
// variable length, which end with a first number of 0 that is not the first one.
func sizeOfSteps(b []byte) int {
	for i, first := 0, true; ; first = false {
		if b[i] == 0 && !first {
			return i + 1
		}
		for range 2 {
			for b[i]&0x80 != 0 {
				i++
			}
			i++
		}
	}
}
