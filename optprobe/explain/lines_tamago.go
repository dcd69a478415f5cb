//go:build tamago

package explain

import (
	"maps"
	"slices"
	"strings"
	"syscall"

	"sonde/kallsyms"
	"sonde/kernel/refusal"
	"sonde/probe/attach"
	"sonde/probe/attach/places"
)

// Lines tells what a probe on each line from first to last of a file would be. The line table is read once, and
// nothing is changed.
//
// Errors: EINVAL and ENOENT of the file; E2BIG more places than Explain lists.
func Lines(file string, first, last int) (Source, error) {
	im, err := places.Kernel()
	if err != nil {
		return Source{}, err
	}
	file, found, err := im.Between(file, first, last)
	s, n := Source{File: file, First: first, Last: last}, 0
	for _, number := range slices.Sorted(maps.Keys(found)) {
		f := found[number]
		if n += len(f.Spots); n > mostListed {
			return s, refusal.New(syscall.E2BIG, "the lines %d to %d of %s are at more than %d places", first, last, file, mostListed)
		}
		line := Line{Number: number, Copies: f.Parts}
		for _, spot := range f.Spots {
			line.Places = append(line.Places, instruction(spot.Site))
		}
		s.Lines = append(s.Lines, line)
	}
	return s, err
}

// FunctionLines is Lines for those of a function of the kernel.
//
// Errors: as Lines; ENOENT there is no such function, or it has no lines.
func FunctionLines(name string) (Source, error) {
	sym, err := kallsyms.Kernel().Resolve(name)
	if err != nil {
		return Source{}, err
	}
	im, err := places.Kernel()
	if err != nil {
		return Source{}, err
	}
	f, ok := im.Lines.At(sym.Addr)
	if !ok {
		return Source{}, refusal.New(syscall.ENOENT, "%s is no function", sym.Name)
	}
	file, first, last := f.Extent()
	if file == "" {
		return Source{}, refusal.New(syscall.ENOENT, "%s has no lines", sym.Name)
	}
	s, err := Lines(file, first, last)
	s.Function = sym.Name
	return s, err
}

// instruction is one place of a line.
func instruction(at attach.Site) Instruction {
	i := Instruction{Symbol: at.Symbol, Offset: at.Offset}
	p, err := find(at)
	if err != nil {
		i.Why = err.Error()
		return i
	}
	i.Way = Breakpoint
	why := p.against()
	if i.Why = strings.Join(why, "; "); len(why) == 0 {
		i.Way = Jump
	}
	switch {
	case p.Jumped:
		i.Hit = Jump
	case p.Armed:
		i.Hit = Breakpoint
	}
	if p.off() == 0 {
		i.Args = p.Args
	}
	return i
}
