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

// layOut computes sizes and offsets, and names that follow.
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
}
