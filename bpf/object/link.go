package object

import (
	"cmp"
	"slices"
	"sort"

	"sonde/bpf"
)

// Kinds of relocations of code.
const (
	relocWide = 1  // of a 64-bit load
	relocCall = 10 // of a call
)

const (
	maxInsns     = 1 << 16 // of a program, with copies of what it calls, as the verifier takes them
	maxFunctions = 256     // of a program

	maxAllInsns     = 1 << 18 // of all programs
	maxAllFunctions = 1 << 13
)

// copied is a function in a program.
type copied struct {
	symbol
	at int // where its first instruction is in the program
}

// A target is a call, or the load of a function's address, whose distance is not known yet.
type target struct {
	pc int
	to symbol
}

// link puts a program together: its function, and copies of those that it calls.
func (l *linker) link(p *Func, entry symbol) error {
	done := []copied{}
	var open []target
	if err := l.copy(p, entry, &done, &open); err != nil {
		return err
	}
	for len(open) > 0 {
		next := open[0]
		open = open[1:]
		i := slices.IndexFunc(done, func(c copied) bool { return c.section == next.to.section && c.value == next.to.value })
		if i < 0 {
			i = len(done)
			if err := l.copy(p, next.to, &done, &open); err != nil {
				return err
			}
		}
		p.Insns[next.pc].Imm = int32(done[i].at - next.pc - 1)
	}
	sort.SliceStable(p.Lines, func(i, j int) bool { return p.Lines[i].PC < p.Lines[j].PC })
	return nil
}

// copy appends a function to a program, with its lines, and changes what its relocations say.
func (l *linker) copy(p *Func, y symbol, done *[]copied, open *[]target) error {
	s := &l.sections[y.section]
	if y.value%bpf.InsnBytes != 0 || y.size%bpf.InsnBytes != 0 || y.size == 0 {
		return bad("function %s is at %#x of %s, and has %d bytes: expected whole instructions", y.name, y.value, s.name, y.size)
	}
	insns, err := bpf.Decode(s.data[y.value : y.value+y.size])
	if err != nil {
		return bad("function %s: %v", y.name, err)
	}
	c := copied{y, len(p.Insns)}
	if *done = append(*done, c); len(*done) > maxFunctions || len(p.Insns)+len(insns) > maxInsns {
		return bad("more than %d functions, or %d instructions", maxFunctions, maxInsns)
	}
	l.insns, l.copies = l.insns+len(insns), l.copies+1
	if l.insns > maxAllInsns || l.copies > maxAllFunctions {
		return bad("more than %d functions, or %d instructions, of all programs", maxAllFunctions, maxAllInsns)
	}
	p.Insns = append(p.Insns, insns...)
	relocs := map[int]relocation{}
	for _, r := range l.relocs[y.section] {
		if r.offset-y.value < y.size {
			relocs[int(r.offset-y.value)/bpf.InsnBytes] = r
		}
	}
	for i := 0; i < len(insns); i++ {
		r, ok := relocs[i]
		if err := l.refer(p, c, i, r, ok, open); err != nil {
			return err
		}
		if insns[i].IsWide() {
			i++
		}
	}
	first, last := int(y.value/bpf.InsnBytes), int((y.value+y.size)/bpf.InsnBytes)
	if l.ext == nil {
		return nil
	}
	for _, line := range l.ext.Lines[s.name] {
		if line.PC >= first && line.PC < last {
			line.PC += c.at - first
			p.Lines = append(p.Lines, line)
		}
	}
	return l.relocate(p, s.name, first, last, c.at)
}

// refer makes instruction i of a function refer to what its relocation, if it has one, says.
func (l *linker) refer(p *Func, c copied, i int, r relocation, relocated bool, open *[]target) error {
	in := &p.Insns[c.at+i]
	isCall := in.Class() == bpf.JMP && in.Operation() == bpf.Call && in.Src() == bpf.CallLocal
	switch {
	case !relocated && isCall:
		return l.target(open, c.at+i, c.symbol, int64(c.value)+int64(i+1+int(in.Imm))*bpf.InsnBytes)
	case !relocated:
		return nil
	}
	y := l.symbols[r.symbol]
	switch {
	case y.section <= 0:
		return bad("%s is defined elsewhere: there are no variables, functions and settings of the kernel for programs", y.name)
	case r.kind == relocCall && isCall && l.sections[y.section].isCode():
		return l.target(open, c.at+i, y, int64(y.value)+(int64(in.Imm)+1)*bpf.InsnBytes)
	case r.kind == relocWide && in.IsWide() && c.at+i+1 < len(p.Insns):
		if l.sections[y.section].isCode() {
			in.Regs = in.Regs&15 | bpf.Function<<4
			return l.target(open, c.at+i, y, int64(y.value)+int64(in.Imm))
		}
		return l.referToMap(p, c.at+i, y)
	}
	return bad("a relocation of kind %d at instruction %d of %s, of %s: expected one of a map, a variable or a function", r.kind, i, c.name, y.name)
}

// target notes that the instruction at pc refers to the function at an offset of near's section.
func (l *linker) target(open *[]target, pc int, near symbol, offset int64) error {
	i, ok := slices.BinarySearchFunc(l.funcs, offset, func(y symbol, offset int64) int {
		return cmp.Or(cmp.Compare(y.section, near.section), cmp.Compare(int64(y.value), offset))
	})
	if ok {
		*open = append(*open, target{pc, l.funcs[i]})
		return nil
	}
	return bad("instruction %d refers to %s%+d, where no function begins", pc, l.sections[near.section].name, offset)
}

// referToMap makes a 64-bit load refer to a map, or to a variable in one.
func (l *linker) referToMap(p *Func, pc int, y symbol) error {
	first, second := &p.Insns[pc], &p.Insns[pc+1]
	name := l.sections[y.section].name
	m, kind := l.mapAt[place{y.section, y.value + uint64(uint32(first.Imm))}], bpf.MapIdx
	if isData(name) {
		m, kind = l.mapAt[place{y.section, 0}], bpf.MapIdxVal
		second.Imm = int32(y.value) + first.Imm
	}
	if m == nil {
		return bad("instruction %d refers to %s in section %s: there is no map", pc, y.name, name)
	}
	i := slices.Index(p.Uses, m)
	if i < 0 {
		i = len(p.Uses)
		p.Uses, p.Maps = append(p.Uses, m), append(p.Maps, &m.MapSpec)
	}
	first.Regs = first.Regs&15 | kind<<4
	first.Imm = int32(i)
	return nil
}
