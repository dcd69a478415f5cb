package program

import "strconv"

// Sections that say which version of a library each symbol of the dynamic table is of.
//
// Source: LSB Core, "Symbol Versioning".
const (
	secVersions = 0x6fffffff // of each symbol, a uint16
	secDefined  = 0x6ffffffd // the versions that the file defines

	olderFlag     = 1 << 15 // programs are not linked with this one any more
	versionNumber = olderFlag - 1
	maxVersions   = 4096 // more than any library has
)

// versions returns what to append to the name of symbol i of the dynamic table: "@VERSION" if it is an older one.
func (o *object) versions() func(i int) string {
	var of []byte
	names := map[uint16]string{}
	for i := range o.sections {
		switch s := &o.sections[i]; s.kind {
		case secVersions:
			of = o.data(s)
		case secDefined:
			readVersions(o.data(s), o.strings(s.linked), names)
		}
	}
	return func(i int) string {
		if 2*i+2 > len(of) {
			return ""
		}
		v := le.Uint16(of[2*i:])
		if v&olderFlag == 0 {
			return ""
		}
		if name := names[v&versionNumber]; name != "" {
			return "@" + name
		}
		return "@" + strconv.Itoa(int(v&versionNumber))
	}
}

// readVersions reads a list of Verdef, each of which says where the next is, and its name: the first Verdaux.
func readVersions(b []byte, text string, names map[uint16]string) {
	const def, aux = 20, 8
	for range maxVersions {
		if len(b) < def {
			return
		}
		if at := uint64(le.Uint32(b[12:])); at+aux <= uint64(len(b)) {
			names[le.Uint16(b[4:])] = stringAt(text, le.Uint32(b[at:]))
		}
		next := uint64(le.Uint32(b[16:]))
		if next == 0 || next > uint64(len(b)) {
			return
		}
		b = b[next:]
	}
}
