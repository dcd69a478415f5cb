package object

import (
	"encoding/binary"
	"sort"

	"sonde/bpf"
	"sonde/bpf/btf"
)

const (
	mapsSection = ".maps" // described by types
	oldSection  = "maps"  // five words each
	oldSize     = 20
)

// readMaps finds all maps.
func (l *linker) readMaps() error {
	for i := range l.sections {
		s := &l.sections[i]
		switch {
		case s.name == mapsSection:
			if err := l.typedMaps(i); err != nil {
				return err
			}
		case s.name == oldSection:
			if err := l.oldMaps(i); err != nil {
				return err
			}
		case isData(s.name) && s.size > 0:
			m := &Map{MapSpec: bpf.MapSpec{Name: s.name, Type: bpf.Array, KeySize: 4, ValueSize: uint32(s.size), MaxEntries: 1}}
			if s.kind != noBits {
				m.Value = s.data
			}
			if s.name[1] == 'r' {
				m.Flags = bpf.ReadOnlyProgram
			}
			l.addMap(m, place{i, 0})
		}
	}
	return nil
}

func (l *linker) addMap(m *Map, at place) {
	l.o.Maps = append(l.o.Maps, m)
	l.mapAt[at] = m
}

// variables are the symbols of what is in a section, in the order in which it is there.
func (f *file) variables(section int) (all []symbol) {
	for _, y := range f.symbols {
		if y.section == section && y.kind != kindSection && y.name != "" {
			all = append(all, y)
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].value < all[j].value })
	return all
}

// oldMaps reads maps that are type, size of keys, of values, entries and flags.
func (l *linker) oldMaps(i int) error {
	for _, y := range l.variables(i) {
		if y.size < oldSize || l.sections[i].kind == noBits {
			return bad("map %s: %d bytes: expected at least %d: type, sizes of keys and values, entries, flags", y.name, y.size, oldSize)
		}
		b := l.sections[i].data[y.value : y.value+y.size]
		var w [oldSize / 4]uint32
		for j := range w {
			w[j] = binary.LittleEndian.Uint32(b[4*j:])
		}
		for _, more := range b[oldSize:] {
			if more != 0 {
				return bad("map %s: the bytes behind the first %d are not known: expected 0", y.name, oldSize)
			}
		}
		l.addMap(&Map{MapSpec: bpf.MapSpec{Name: y.name, Type: bpf.MapType(w[0]), KeySize: w[1], ValueSize: w[2], MaxEntries: w[3], Flags: w[4]}}, place{i, y.value})
	}
	return nil
}

// typedMaps reads maps whose types say what they are like.
func (l *linker) typedMaps(i int) error {
	if len(l.relocs[i]) > 0 {
		return bad("section %s: maps that have maps in them from the beginning are not supported: put them in by bpf map update", mapsSection)
	}
	t := l.o.Types
	if t == nil {
		return bad("section %s, and no BTF: compile with clang -g", mapsSection)
	}
	for _, y := range l.variables(i) {
		id, err := t.Find(btf.Var, y.name)
		if err != nil {
			return bad("map %s: %v", y.name, err)
		}
		spec, why := specOf(t, t.Type(id).Of, true)
		if why != "" {
			return bad("map %s: %s", y.name, why)
		}
		spec.Name = y.name
		l.addMap(&Map{MapSpec: *spec}, place{i, y.value})
	}
	return nil
}

// specOf reads a structure whose members' types are what they say: a pointer to an array of n elements is
// the number n, and other pointers are to the type of keys or values.
func specOf(t *btf.Table, id btf.ID, outer bool) (*bpf.MapSpec, string) {
	x := t.Type(t.Underlying(id))
	if x.Kind != btf.Struct {
		return nil, "it is a " + x.Kind.String() + ": expected a structure with type, key, value and max_entries"
	}
	s := &bpf.MapSpec{}
	for _, m := range x.Members {
		var why string
		switch m.Name {
		case "type":
			why = number(t, m, (*uint32)(&s.Type))
		case "key_size":
			why = number(t, m, &s.KeySize)
		case "value_size":
			why = number(t, m, &s.ValueSize)
		case "max_entries":
			why = number(t, m, &s.MaxEntries)
		case "map_flags":
			why = number(t, m, &s.Flags)
		case "key":
			why = pointed(t, m, &s.KeySize)
		case "value":
			why = pointed(t, m, &s.ValueSize)
		case "values":
			why = inner(t, m, s, outer)
		default:
			why = "the member " + m.Name + " is not supported"
		}
		if why != "" {
			return nil, why
		}
	}
	return s, ""
}

// number reads int (*member)[n].
func number(t *btf.Table, m btf.Member, to *uint32) string {
	if p := t.Type(t.Underlying(m.Type)); p.Kind == btf.Ptr {
		if a := t.Type(t.Underlying(p.Of)); a.Kind == btf.Array {
			*to = a.Count
			return ""
		}
	}
	return m.Name + ": expected a pointer to an array, as __uint makes it"
}

// pointed reads TYPE *member.
func pointed(t *btf.Table, m btf.Member, to *uint32) string {
	if p := t.Type(t.Underlying(m.Type)); p.Kind == btf.Ptr {
		if size, ok := t.Size(p.Of); ok {
			*to = size
			return ""
		}
	}
	return m.Name + ": expected a pointer to a type that has a size, as __type makes it"
}

// inner reads MAP *member[], as the values of a map of maps are described.
func inner(t *btf.Table, m btf.Member, s *bpf.MapSpec, outer bool) (why string) {
	const wrong = "values: expected an array of pointers to a map, as __array makes it"
	a := t.Type(t.Underlying(m.Type))
	if a.Kind != btf.Array || !outer {
		return wrong
	}
	p := t.Type(t.Underlying(a.Of))
	if p.Kind != btf.Ptr {
		return wrong
	}
	s.Inner, why = specOf(t, p.Of, false)
	s.ValueSize = 4
	return why
}
