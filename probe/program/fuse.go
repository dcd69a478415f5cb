package program

import (
	"fmt"
	"slices"
	"sync/atomic"

	"sonde/bpf"
	"sonde/bpf/jit"
	"sonde/probe/attach"
)

// Small programs are compiled for the places that they are attached to: see attach.Fuser, jit.Fuse.

// fuser compiles a version of a program for places. It implements attach.Fuser.
type fuser struct{ *version }

// Ready is part of attach.Fuser: a program that is metered or held is called by its door.
func (f fuser) Ready() bool { return atomic.LoadUintptr(&f.door) == f.entry }

func (f fuser) Fuse(at *attach.Fusion) (*attach.Fused, error) {
	source := f.source()
	var reads []uint8
	for _, load := range source.Ctx {
		if w, err := f.word(load.Off, at); err == nil && w.Kind == jit.InRegister {
			reads = append(reads, w.Reg)
		}
	}
	scratch := without(at.Free, reads)
	others := without(at.Others, reads)
	scratch = append(scratch, others[:min(at.Most, len(others))]...)
	fused, err := jit.Fuse(source, &jit.Site{
		Word:    func(off int32) (jit.Word, error) { return f.word(off, at) },
		Table:   f.table,
		Resolve: f.prog.resolve,
		CPU:     offsetID,
		Scratch: scratch,
		Count:   at.Count,
		Holds:   int32(offsetRunning),
	})
	if err != nil {
		return nil, err
	}
	return &attach.Fused{Code: fused.Code, Changes: scratch[:fused.Used], Bails: fused.Bails}, nil
}

// without returns a new list without some.
func without(list, some []uint8) []uint8 {
	return slices.DeleteFunc(slices.Clone(list), func(r uint8) bool { return slices.Contains(some, r) })
}

// registerAt is which register a word of amd64.Regs is, by hardware number; see there.
var registerAt = [...]uint8{15, 14, 13, 12, 5, 3, 11, 10, 9, 8, 0, 1, 2, 6, 7}

// word says what is in a word of the context.
func (f fuser) word(off int32, at *attach.Fusion) (w jit.Word, err error) {
	off, err = f.registersAt(off, wordSize)
	i := int(off) / wordSize
	switch {
	case err != nil:
		return w, err
	case i < len(registerAt):
		if up, ok := at.Stack[registerAt[i]]; ok {
			return jit.Word{Kind: jit.OnStack, Number: uint64(up)}, nil
		}
		return jit.Word{Reg: registerAt[i]}, nil
	case off == offsetIP:
		return jit.Word{Kind: jit.IsNumber, Number: at.IP}, nil
	}
	return w, fmt.Errorf("it reads the flags, a segment or the stack pointer, which a fused program does not find")
}

// table says where a map has its elements.
func (f fuser) table(index int32) (jit.Table, error) {
	if index < 0 || int(index) >= len(f.prog.maps) {
		return jit.Table{}, fmt.Errorf("there is no map %d", index)
	}
	m := f.prog.maps[index]
	t := jit.Table{Near: int32(m.near), Stride: uint32(m.stride), Entries: m.Spec.MaxEntries}
	switch size := m.Spec.KeySize; {
	case m.near != 0:
		return t, nil
	case m.is(bpf.PerCPUHash) && (size%wordSize != 0 || size > fusedKey):
		return t, fmt.Errorf("the keys of map %s have %d bytes, not up to %d in words of %d", m.Spec.Name, size, fusedKey, wordSize)
	case m.first != 0:
		t.Near = int32(m.first)
		t.Hash = &jit.Hash{Words: int(size / wordSize), Factor: goldenRatio, Shift: m.shift, Full: full, Value: int32(m.value), Places: fusedPlaces}
		return t, nil
	}
	return t, fmt.Errorf("map %s is not a per-CPU array of at most %d bytes, nor a per-CPU hash", m.Spec.Name, mostNear)
}

// In a hash, fused programs look at so many places for a key of at most so many bytes.
const (
	fusedPlaces = 4
	fusedKey    = 4 * wordSize
)

// Fusible returns why the program cannot be put into the detours of places; nil: it can, where nothing else prevents it.
func (p *Prog) Fusible() error {
	if !p.seesRegisters() {
		return fmt.Errorf("its context is not the registers")
	}
	_, err := fuser{&p.version}.Fuse(&attach.Fusion{Free: []uint8{12, 13, 15}})
	return err
}
