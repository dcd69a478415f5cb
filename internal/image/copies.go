package image

import (
	"debug/dwarf"
	"fmt"

	"sonde/gotypes"
	"sonde/kallsyms"
	"sonde/kallsyms/pcln"
)

// copyReader finds where the arguments of inlined copies are when control arrives at their lowest address.
type copyReader struct {
	locations
	d     *dwarf.Data
	of    arguments
	lines *pcln.Table
	found map[copyAt][]gotypes.Spot
}

// arguments tells what entries of DWARF are: abstract functions, and their arguments.
type arguments struct {
	functions map[dwarf.Offset]uint64 // their addresses
	indices   map[dwarf.Offset]int    // of arguments
}

// copyAt is a copy: the address of the function's own code, and the lowest one of the copy.
type copyAt struct{ function, addr uint64 }

// copies notes in info where the arguments of the copies of each function are that has code of its own.
func (f *elfFile) copies(d *dwarf.Data, info *gotypes.Info, of arguments, syms *kallsyms.Table) error {
	lines, err := f.lines()
	if err != nil {
		return err
	}
	r := copyReader{d: d, of: of, lines: lines, found: map[copyAt][]gotypes.Spot{}}
	if r.locations, err = f.locations(); err == nil {
		err = r.read(info)
	}
	if err != nil {
		return fmt.Errorf("%w: copies: %w", ErrLayout, err)
	}
	names := map[string]uint64{}
	for _, e := range gotypes.Entries(syms) {
		names[e.Name] = e.Addr
	}
	copies, known := map[uint64][][]gotypes.Spot{}, map[uint64]bool{}
	for _, p := range lines.Copies(func(name string) bool { return names[name] != 0 }) {
		name, _ := p.Func.Copy(p.Copy)
		fn := names[name]
		spots := r.found[copyAt{fn, p.Spans[0].Begin}]
		copies[fn] = append(copies[fn], spots)
		known[fn] = known[fn] || spots != nil
	}
	for i := range info.Funcs {
		if fn := &info.Funcs[i]; known[fn.Addr] {
			fn.Copies = copies[fn.Addr]
		}
	}
	return nil
}

// lines are the runtime's tables of the image.
func (f *elfFile) lines() (*pcln.Table, error) {
	var at [4]uint64
	for i, name := range []string{"runtime.pclntab", "go:func.*", "runtime.epclntab", "runtime.text"} {
		s, err := f.symbol(name)
		if err != nil {
			return nil, err
		}
		at[i] = s.Value
	}
	data, addr, err := f.section(".gopclntab")
	if err != nil {
		return nil, err
	}
	if at[0] < addr || at[1] < at[0] || at[2] < at[1] || at[2] > addr+uint64(len(data)) {
		return nil, fmt.Errorf("section .gopclntab does not have them: %w", ErrLayout)
	}
	return pcln.Load(data[at[0]-addr:at[1]-addr], data[at[1]-addr:at[2]-addr], at[3])
}

// read looks at all copies in DWARF. The arguments of one come right after it.
func (r *copyReader) read(info *gotypes.Info) error {
	count := map[uint64]int{}
	for _, f := range info.Funcs {
		count[f.Addr] = len(f.Params)
	}
	var in copyAt
	for all := r.d.Reader(); ; {
		e, err := all.Next()
		if err != nil || e == nil {
			return err
		}
		origin, _ := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
		switch e.Tag {
		case dwarf.TagCompileUnit:
			r.base, _ = e.Val(dwarf.AttrAddrBase).(int64)
		case dwarf.TagSubprogram:
			in = copyAt{}
		case dwarf.TagInlinedSubroutine:
			if in, err = r.begin(e, r.of.functions[origin]); err != nil {
				return err
			}
		case dwarf.TagFormalParameter:
			i, is := r.of.indices[origin]
			if !is || in.function == 0 || i >= count[in.function] {
				break
			}
			if s := r.spot(e, in.addr); s.Known() {
				if r.found[in] == nil {
					r.found[in] = make([]gotypes.Spot, count[in.function])
				}
				r.found[in][i] = s
			}
		}
	}
}

// begin is where a copy has its lowest address.
func (r *copyReader) begin(e *dwarf.Entry, function uint64) (copyAt, error) {
	if function == 0 {
		return copyAt{}, nil
	}
	ranges, err := r.d.Ranges(e)
	at := copyAt{function, ^uint64(0)}
	for _, span := range ranges {
		at.addr = min(at.addr, span[0])
	}
	return at, err
}

// spot is where an argument is at an address.
func (r *copyReader) spot(e *dwarf.Entry, addr uint64) gotypes.Spot {
	expr, ok := e.Val(dwarf.AttrLocation).([]byte)
	if list, is := e.Val(dwarf.AttrLocation).(int64); is {
		expr, ok = r.at(list, addr)
	}
	f, in := r.lines.At(addr)
	if !ok || !in {
		return gotypes.Spot{}
	}
	frame, ok := f.Frame(addr)
	if !ok {
		return gotypes.Spot{}
	}
	return spotOf(expr, frame+8) // the address that the function returns to
}
