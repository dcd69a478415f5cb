package main

import (
	"debug/elf"
	"fmt"
	"math/rand/v2"
	"slices"

	"sonde/kallsyms/entries"
	"sonde/kallsyms/pcln"
	"sonde/optprobe"
)

// A program is where functions are taken from.
type program struct {
	text    []byte
	base    uint64
	funcs   []entries.Func
	names   []string
	entries *entries.Table
}

// most is how large functions may be, in bytes.
const most = 4096

// load reads a linked Go program.
func load(path string) (*program, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, pclntab := f.Section(".text"), f.Section(".gopclntab")
	syms, err := f.Symbols()
	if err != nil || text == nil || pclntab == nil {
		return nil, fmt.Errorf("%s is no Go program with symbols: %v", path, err)
	}
	p := &program{base: text.Addr}
	if p.text, err = text.Data(); err != nil {
		return nil, err
	}
	p.symbols(syms)
	lines, err := pclntab.Data()
	if err != nil {
		return nil, err
	}
	table, err := pcln.Load(lines, nil, p.base)
	if err != nil {
		return nil, err
	}
	found, err := table.Recovers()
	if err != nil {
		return nil, err
	}
	blob, err := entries.Encode(append(found, entries.Find(p.text, p.base, p.funcs)...))
	if err != nil {
		return nil, err
	}
	p.entries, err = entries.Load(blob)
	return p, err
}

// symbols keeps one function per address.
func (p *program) symbols(syms []elf.Symbol) {
	slices.SortStableFunc(syms, func(a, b elf.Symbol) int { return int(int64(a.Value) - int64(b.Value)) })
	last := uint64(0)
	for _, s := range syms {
		in := s.Value >= p.base && s.Value+s.Size <= p.base+uint64(len(p.text))
		if in && s.Value != last && s.Size > 0 && s.Size <= most && elf.ST_TYPE(s.Info) == elf.STT_FUNC {
			p.funcs = append(p.funcs, entries.Func{Addr: s.Value, Size: s.Size})
			p.names = append(p.names, s.Name)
			last = s.Value
		}
	}
}

// function returns a function. To some, an entry is added that no code uses, so that there are more of
// them than in the compiler's code.
func (p *program) function(i int) optprobe.Function {
	fn := p.funcs[i]
	f := optprobe.Function{
		Addr: fn.Addr, Code: p.text[fn.Addr-p.base : fn.End()-p.base], Entries: slices.Clone(p.entries.Within(fn.Addr, fn.Size)),
	}
	if rand.IntN(4) == 0 {
		f.Entries = append(f.Entries, fn.Addr+uint64(begin(f.Code, rand.IntN(len(f.Code)))))
	}
	return f
}
