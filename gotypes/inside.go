package gotypes

// inside finds the types that the runtime describes just as DWARF does, with all that they are made of,
// and where. A table needs only to point to those.
func inside(types []Desc, m Memory) map[ID]uint32 {
	s := search{types, m, map[ID]uint32{}, map[uint32]ID{}, nil}
	for id := range types {
		if off := types[id].Runtime; off != 0 && int(off) < len(m.Data) {
			s.meet(off, ID(id))
		}
	}
	for len(s.todo) > 0 {
		id := s.todo[len(s.todo)-1]
		s.todo = s.todo[:len(s.todo)-1]
		d, ok := m.describe(s.at[id])
		if !ok || !agree(&types[id], &d) {
			delete(s.at, id)
			continue
		}
		parts(&types[id], &d, func(id, off ID) { s.meet(uint32(off), id) })
	}
	for s.drop() {
	}
	return s.at
}

// search follows types and their descriptions, which lead to others.
type search struct {
	types []Desc
	m     Memory
	at    map[ID]uint32 // where a type is described
	of    map[uint32]ID
	todo  []ID
}

func (s *search) meet(off uint32, id ID) {
	_, has := s.at[id]
	if _, taken := s.of[off]; !has && !taken {
		s.at[id], s.of[off] = off, id
		s.todo = append(s.todo, id)
	}
}

// drop removes the types that have a part which is not inside, and reports whether there was one.
func (s *search) drop() bool {
	before := len(s.at)
	for id, off := range s.at {
		d, _ := s.m.describe(off)
		parts(&s.types[id], &d, func(part, off ID) {
			if at, ok := s.at[part]; !ok || at != uint32(off) {
				delete(s.at, id)
			}
		})
	}
	return len(s.at) < before
}

// parts calls f with each type that x has in it, and with what d, which agrees, has there.
func parts(x, d *Desc, f func(x, d ID)) {
	var of []ID
	d.eachPart(func(part *ID) { of = append(of, *part) })
	i := 0
	x.eachPart(func(part *ID) { f(*part, of[i]); i++ })
}

// agree compares a type with a description, but for their parts.
func agree(x, d *Desc) bool {
	if x.Kind != d.Kind || x.Len != d.Len || len(x.Fields) != len(d.Fields) || x.Name != d.Name {
		return false
	}
	for i, f := range x.Fields {
		if f.Name != d.Fields[i].Name || f.Offset != d.Fields[i].Offset {
			return false
		}
	}
	return true
}
