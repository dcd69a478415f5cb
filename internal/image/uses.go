package image

import (
	"cmp"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"strings"
)

// Use is what a part of an image takes of the file, in bytes.
type Use struct {
	Part   string
	Code   int
	Data   int // but for what is 0 at boot
	Tables int // what the runtime has of the functions: records, names, lines, stacks
}

// Sum is all that the part takes.
func (u *Use) Sum() int { return u.Code + u.Data + u.Tables }

// uses adds up what symbols take, by the part that part says they are of. Of what several functions share in the
// runtime's tables, the first one in the image has all.
//
// Errors: ErrLayout, if there are no tables.
func (f *elfFile) uses(part func(symbol string) string) (map[string]*Use, error) {
	all := map[string]*Use{}
	of := func(symbol string) *Use {
		name := part(symbol)
		if all[name] == nil {
			all[name] = &Use{Part: name}
		}
		return all[name]
	}
	for _, s := range f.syms {
		if int(s.Section) >= len(f.view.Sections) || f.view.Sections[s.Section].Type == elf.SHT_NOBITS {
			continue
		}
		switch elf.ST_TYPE(s.Info) {
		case elf.STT_FUNC:
			of(s.Name).Code += int(s.Size)
		case elf.STT_OBJECT:
			of(s.Name).Data += int(s.Size)
		}
	}
	lines, err := f.lines()
	if err != nil {
		return nil, err
	}
	m := lines.Measure()
	for i := range lines.Len() {
		fn := lines.Func(i)
		of(fn.Name()).Tables += m.Take(fn)
	}
	return all, nil
}

// packageOf returns the package of a symbol; "" is what belongs to none.
func packageOf(symbol string) string {
	name, _, _ := strings.Cut(symbol, "[") // type arguments may name other packages
	if strings.ContainsAny(name[:min(1, len(name))], "$_") || strings.Contains(name, ":") {
		return ""
	}
	slash := strings.LastIndexByte(name[:max(0, strings.IndexAny(name+"(", "("))], '/') + 1
	pkg, _, ok := strings.Cut(name[slash:], ".")
	if !ok {
		return ""
	}
	return name[:slash] + pkg
}

// Uses lists what takes the room in a finished image, the most first; all of it is the whole file. Packages that
// take less than least bytes are one row.
//
// Errors: ErrLayout; those of reading the file.
func Uses(path string, least int) (list []Use, err error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("image: uses: %w", err)
	}
	f, err := open(raw)
	if err != nil {
		return nil, fmt.Errorf("image: uses: %s: %w", path, err)
	}
	packages, err := f.uses(packageOf)
	if err != nil {
		return nil, fmt.Errorf("image: uses: %s: %w", path, err)
	}
	shared, small, n := Use{Part: "types, strings and constants of all packages"}, Use{}, 0
	for name, u := range packages {
		switch {
		case name == "":
			shared.add(u)
		case u.Sum() < least:
			small.add(u)
			n++
		default:
			list = append(list, *u)
		}
	}
	small.Part = fmt.Sprintf("%d smaller packages", n)
	opts := Options{}.withDefaults()
	list = append(list, shared, small,
		Use{Part: "programs in the archive", Data: f.blob(initramfsVar)},
		Use{Part: "names and addresses of functions and variables", Data: f.blob(opts.SymtabVar)},
		Use{Part: "types of arguments", Data: f.blob(typesVar)},
		Use{Part: "entries into functions", Data: f.blob(opts.EntriesVar)},
		Use{Part: "what debuggers read", Data: f.debug()})
	rest := Use{Part: "the rest: descriptions of types, headers, alignment", Data: len(raw)}
	for i := range list {
		rest.Data -= list[i].Sum()
	}
	list = append(list, rest)
	slices.SortFunc(list, func(a, b Use) int { return cmp.Or(cmp.Compare(b.Sum(), a.Sum()), cmp.Compare(a.Part, b.Part)) })
	return list, nil
}

func (u *Use) add(more *Use) {
	u.Code, u.Data, u.Tables = u.Code+more.Code, u.Data+more.Data, u.Tables+more.Tables
}

// blob is the size of what Finish has appended, by its variable of two words; 0: there is none.
func (f *elfFile) blob(variable string) int {
	s, err := f.symbol(variable)
	if err != nil {
		return 0
	}
	sec := f.view.Sections[s.Section]
	at := s.Value - sec.Addr + sec.Offset
	return int(binary.LittleEndian.Uint64(f.data[at+8:]))
}

// debug is the size of the sections that are not loaded.
func (f *elfFile) debug() (n int) {
	for _, s := range f.view.Sections {
		if s.Flags&elf.SHF_ALLOC == 0 && s.Name != ".strtab" { // that is the kernel's own table: see shareNames
			n += int(s.FileSize)
		}
	}
	return n
}
