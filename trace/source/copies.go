package source

import (
	"errors"
	"slices"

	"sonde/arch/amd64/goabi"
	"sonde/gotypes"
	"sonde/probe/attach"
	"sonde/probe/attach/places"
	"sonde/trace/lang"
)

// errNoCode says that there is nothing but copies of a function.
var errNoCode = errors.New("it is nowhere called, but inlined everywhere, and the types of such functions are not known")

// describeCopies has a target know where the arguments of a function are in its inlined copies, if it is called,
// too: of others, no types are known.
func (s *Source) describeCopies(t *lang.Target, site attach.Site) {
	if s.Types == nil || s.Find == nil || site.Kind != attach.Inline || site.Pattern() {
		return
	}
	t.Fill = func() error {
		found, err := s.Find(site)
		if err != nil {
			return err
		}
		own := slices.IndexFunc(found.Spots, func(spot places.Spot) bool { return spot.Part < 0 })
		if own < 0 {
			return errNoCode
		}
		table, call, err := s.Types(found.Spots[own].Addr)
		if err != nil {
			return err
		}
		copies := table.Copies(call.Addr)
		if len(copies) != found.Parts {
			copies = make([][]gotypes.Spot, found.Parts)
		}
		g := goTypes{table, map[gotypes.ID]*lang.Struct{}}
		for i, a := range call.Args {
			if f, ok := g.copied(a, i, copies, found); ok {
				t.Fields = append(t.Fields, f)
			}
		}
		return nil
	}
}

// copied is argument i as it is at the places of a function's copies, and of the function.
func (g *goTypes) copied(a gotypes.Arg, i int, copies [][]gotypes.Spot, found places.Found) (f lang.ArgField, ok bool) {
	own := g.fields([]gotypes.Arg{a}, func(_ int, name string) string { return name })
	if len(own) == 0 {
		return f, false
	}
	f = own[0]
	words := 1 + len(f.More)
	f.Copies = []lang.CopyField{}
	known := map[uint64]bool{}
	for _, spot := range found.Spots {
		c := lang.CopyField{Addr: spot.Addr, Offset: f.Offset, More: f.More}
		if spot.Part >= 0 {
			of := copies[spot.Part]
			if !spot.Lowest || i >= len(of) || !inCopy(&c, of[i], words) {
				continue
			}
		}
		if !known[spot.Addr] {
			f.Copies = append(f.Copies, c)
		}
		known[spot.Addr] = true
	}
	if len(known) < len(found.Spots) {
		f.Known = found.Summary(func(s *places.Spot) bool { return known[s.Addr] })
	}
	return f, true
}

// inCopy notes where an argument of so many words is in a copy, if a program can read it there.
func inCopy(c *lang.CopyField, s gotypes.Spot, words int) bool {
	if s.OnStack {
		c.Offset, c.More, c.Stack = s.Stack, nil, true
		return words == 1
	}
	if len(s.Regs) != words {
		return false
	}
	c.Offset, c.More = goabi.PtReg(int8(s.Regs[0])), nil
	for _, r := range s.Regs[1:] {
		c.More = append(c.More, goabi.PtReg(int8(r)))
	}
	return true
}
