package gotypes

// decode unpacks what Encode has packed.
func decode(types []byte, entries []Entry, m Memory) (*Info, error) {
	f := newFormat(unpackNumbers(types), m)
	f.walk(entries, nil)
	if !f.failed() {
		f.layOut()
	}
	return &f.info, f.err
}

// layOut computes sizes and offsets, names that follow, and the addresses of variables.
func (f *format) layOut() {
	types := f.info.Types
	for id := range types {
		if !layOut(types, ID(id), 0) {
			f.fail("type %d contains itself, or is too large", id)
			return
		}
	}
	for id := range types {
		nameOf(types, ID(id), 0)
	}
	end := f.m.Base
	for i := range f.info.Vars {
		v := &f.info.Vars[i]
		v.Addr += end
		end = v.Addr + uint64(types[v.Type].Size)
	}
}
