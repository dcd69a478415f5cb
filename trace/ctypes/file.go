package ctypes

import (
	"cmp"
	"debug/dwarf"
	"fmt"
	"strings"

	"sonde/trace/lang"
)

// What is read of a file at most.
const (
	maxEntries = 1 << 21 // of the file, when it is opened
	maxParts   = 4096    // fields, parameters, enumerators
	maxDepth   = 16      // pointers to pointers, names of names
	maxBytes   = 1 << 16 // of a structure or an array
)

// File is what is known of a program's file.
type File struct {
	data      *dwarf.Data
	lines     []byte // tables of lines
	functions map[string]dwarf.Offset
	types     map[string]dwarf.Offset // struct, union, enum
	typedefs  map[string]dwarf.Offset
	code      []code
	units     []*dwarf.Entry
	split     string // a file that has more of it (-gsplit-dwarf)
	structs   map[dwarf.Offset]*lang.Struct
	weights   map[*lang.Struct]int // how many fields are in it, also in structures in it
	filling   int                  // structures whose fields are being read
	rows      int                  // of tables of lines that have been read
}

// code is where the instructions of a function are.
type code struct {
	name     string
	low, end uint64
}

// gnuDwoName is what DWARF 4 has instead of DW_AT_dwo_name.
//
// Source: gcc, include/dwarf2.def
const gnuDwoName dwarf.Attr = 0x2130

// Open reads which functions and types there are. sections are those whose names begin with ".debug_", and
// ".gnu_debuglink".
//
// Errors: there are none, or something is wrong in them.
func Open(sections map[string][]byte) (*File, error) {
	of := func(name string) []byte { return sections[".debug_"+name] }
	if name, _, _ := strings.Cut(string(sections[".gnu_debuglink"]), "\x00"); len(of("info")) == 0 && name != "" {
		return nil, fmt.Errorf("its DWARF is in a file of its own, %.100q (.gnu_debuglink), which is not beside it, in .debug or in /usr/lib/debug, or is of another build", name)
	} else if len(of("info")) == 0 {
		return nil, fmt.Errorf("there is no DWARF: compile with -g")
	}
	if err := checkUnits(of("info"), of("abbrev")); err != nil {
		return nil, fmt.Errorf("its DWARF is wrong: %w", err)
	}
	data, err := dwarf.New(of("abbrev"), nil, nil, of("info"), of("line"), nil, of("ranges"), of("str"))
	if err != nil {
		return nil, fmt.Errorf("its DWARF is wrong: %v", err)
	}
	for _, name := range []string{"addr", "line_str", "str_offsets", "rnglists", "loclists"} {
		if b := of(name); b != nil {
			if err := data.AddSection(".debug_"+name, b); err != nil {
				return nil, fmt.Errorf("its DWARF is wrong: %v", err)
			}
		}
	}
	f := &File{data: data, lines: of("line"), functions: map[string]dwarf.Offset{}, types: map[string]dwarf.Offset{}, typedefs: map[string]dwarf.Offset{}, structs: map[dwarf.Offset]*lang.Struct{}, weights: map[*lang.Struct]int{}}
	if err := f.index(); err != nil {
		return nil, fmt.Errorf("its DWARF is wrong: %v", err)
	}
	return f, nil
}

// index notes the names of what is at the top of each unit, and in namespaces.
func (f *File) index() error {
	r := f.data.Reader()
	for range maxEntries {
		e, err := r.Next()
		switch {
		case err != nil || e == nil:
			return err
		case e.Tag == dwarf.TagCompileUnit || e.Tag == dwarf.TagSkeletonUnit:
			f.units = append(f.units, e)
			f.split = cmp.Or(f.split, text(e, dwarf.AttrDwoName), text(e, gnuDwoName))
			continue
		case e.Tag == dwarf.TagNamespace || e.Tag == dwarf.TagPartialUnit:
			continue
		}
		f.note(e)
		skip(r, e)
	}
	return fmt.Errorf("it has more than %d entries", maxEntries)
}

// skip reads over what is in an entry. dwarf.Reader.SkipChildren calls itself for each level, and believes
// entries that say where the next one is.
func skip(r *dwarf.Reader, e *dwarf.Entry) {
	if !e.Children {
		return
	}
	if next, ok := e.Val(dwarf.AttrSibling).(dwarf.Offset); ok && next > e.Offset {
		r.Seek(next)
		return
	}
	for depth := 1; depth > 0; {
		switch e, err := r.Next(); {
		case err != nil || e == nil:
			return
		case e.Tag == 0:
			depth--
		case e.Children:
			depth++
		}
	}
}

// note keeps the names of an entry. A definition is worth more than a declaration.
func (f *File) note(e *dwarf.Entry) {
	into := f.types
	switch e.Tag {
	case dwarf.TagSubprogram:
		f.noteFunction(e)
		return
	case dwarf.TagTypedef:
		into = f.typedefs
	case dwarf.TagStructType, dwarf.TagClassType, dwarf.TagUnionType, dwarf.TagEnumerationType:
	default:
		return
	}
	if name := text(e, dwarf.AttrName); name != "" && !flag(e, dwarf.AttrDeclaration) {
		if _, twice := into[name]; !twice {
			into[name] = e.Offset
		}
	}
}

func (f *File) noteFunction(e *dwarf.Entry) {
	if flag(e, dwarf.AttrDeclaration) {
		return
	}
	name, linked := f.names(e)
	for _, n := range []string{linked, name} {
		if _, twice := f.functions[n]; n != "" && !twice {
			f.functions[n] = e.Offset
		}
	}
	low, ok := e.Val(dwarf.AttrLowpc).(uint64)
	if !ok {
		return
	}
	if linked != "" {
		name = linked
	}
	switch high := e.Val(dwarf.AttrHighpc).(type) {
	case int64:
		f.code = append(f.code, code{name, low, low + uint64(high)})
	case uint64:
		f.code = append(f.code, code{name, low, high})
	}
}

// names are those of a function: its own, and that of its symbol, if that is another one.
func (f *File) names(e *dwarf.Entry) (name, linked string) {
	for range maxDepth {
		if name == "" {
			name = text(e, dwarf.AttrName)
		}
		if linked == "" {
			linked = text(e, dwarf.AttrLinkageName)
		}
		from, ok := e.Val(dwarf.AttrSpecification).(dwarf.Offset)
		if !ok {
			from, ok = e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
		}
		if !ok {
			break
		}
		if e = f.entry(from); e == nil {
			break
		}
	}
	return name, linked
}

// none says that something is not there, and why that may be.
func (f *File) none(format string, args ...any) error {
	why := "that part was compiled without -g"
	if f.split != "" {
		why = fmt.Sprintf("more is in files such as %.100q, which are not read: compile without -gsplit-dwarf", f.split)
	}
	return fmt.Errorf("its DWARF has no %s: %s", fmt.Sprintf(format, args...), why)
}

// entry reads one; nil if there is none.
func (f *File) entry(at dwarf.Offset) *dwarf.Entry {
	r := f.data.Reader()
	r.Seek(at)
	e, err := r.Next()
	if err != nil || e == nil || e.Tag == 0 {
		return nil
	}
	return e
}

// children calls yield for the entries in one.
func (f *File) children(at dwarf.Offset, yield func(e *dwarf.Entry)) {
	r := f.data.Reader()
	r.Seek(at)
	if e, err := r.Next(); err != nil || e == nil || !e.Children {
		return
	}
	for range maxParts {
		e, err := r.Next()
		if err != nil || e == nil || e.Tag == 0 {
			return
		}
		yield(e)
		skip(r, e)
	}
}

func text(e *dwarf.Entry, a dwarf.Attr) string {
	s, _ := e.Val(a).(string)
	return s
}

func flag(e *dwarf.Entry, a dwarf.Attr) bool {
	is, _ := e.Val(a).(bool)
	return is
}

// size is how many bytes a type has: 0 if that is not said.
func size(e *dwarf.Entry) int {
	n, _ := e.Val(dwarf.AttrByteSize).(int64)
	if n < 0 || n > maxBytes {
		return 0
	}
	return int(n)
}

// changed tells whether the compiler has given a function a convention of its own.
func changed(name string) bool {
	return strings.Contains(name, ".isra") || strings.Contains(name, ".constprop") || strings.Contains(name, ".part")
}
