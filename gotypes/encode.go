package gotypes

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"maps"
	"reflect"
	"slices"
)

const (
	magic  = "sondeTY6"
	sumLen = 4 // bytes of the sum after the magic
)

// Encode packs what is known of an image for Load. entries are all its functions, in the order of
// addresses; what m has of types is left out.
//
// Errors: a type is laid out in another way than the compiler is known to do it; there are too many
// types, strings or arguments.
func Encode(info *Info, entries []Entry, m Memory) ([]byte, error) {
	types, err := checkLayout(info.Types)
	if err != nil {
		return nil, err
	}
	f := newFormat(numbers{}, m)
	f.given = &Info{types, info.Funcs}
	f.ids, f.known = map[ID]ID{0: 0}, map[string]int{}
	at := inside(types, m)
	of := make(map[uint32]ID, len(at))
	for id, off := range at {
		of[off] = id
	}
	places := slices.Sorted(maps.Keys(of))
	for i, off := range places {
		f.ids[of[off]] = ID(i + 1)
	}
	if f.walk(entries, places); f.failed() {
		return nil, f.err
	}
	copies := newFormat(numbers{}, m)
	copies.given, copies.info = f.given, f.info
	if copies.copies(); copies.failed() {
		return nil, copies.err
	}
	return pack(f.bytes(), copies.bytes()), nil
}

// pack puts the two parts of a table together. The second is read when somebody asks for copies.
func pack(types, copies []byte) []byte {
	blob := binary.LittleEndian.AppendUint32(nil, uint32(len(types)))
	blob = append(append(blob, types...), copies...)
	return append(binary.LittleEndian.AppendUint32([]byte(magic), sum(blob)), blob...)
}

// parted returns what pack was given.
func parted(blob []byte) (types, copies []byte, ok bool) {
	rest, ok := bytes.CutPrefix(blob, []byte(magic))
	if !ok || len(rest) < sumLen+4 || binary.LittleEndian.Uint32(rest) != sum(rest[sumLen:]) {
		return nil, nil, false
	}
	n, rest := binary.LittleEndian.Uint32(rest[sumLen:]), rest[sumLen+4:]
	if uint64(n) > uint64(len(rest)) {
		return nil, nil, false
	}
	return rest[:n], rest[n:], true
}

func newFormat(n numbers, m Memory) *format {
	return &format{numbers: n, m: m, info: Info{Types: make([]Desc, 1)}}
}

// sum tells whether a table is whole.
func sum(b []byte) uint32 {
	h := fnv.New32a()
	h.Write(b)
	return h.Sum32()
}

// checkLayout compares how types are laid out with how layOut does it, and returns what that says.
func checkLayout(given []Desc) (types []Desc, err error) {
	types = slices.Clone(given)
	for i := range types {
		types[i].Fields = slices.Clone(types[i].Fields)
	}
	for i, want := range given {
		if !layOut(types, ID(i), 0) {
			return nil, fmt.Errorf("gotypes: %s contains itself", want.Name)
		}
		sized := want.Size > 0 || want.Kind == reflect.Struct || want.Kind == reflect.Array // DWARF leaves others out
		if got := types[i]; sized && got.Size != want.Size || !slices.Equal(got.Fields, want.Fields) {
			return nil, fmt.Errorf("gotypes: %+v is laid out as %+v", want, got)
		}
	}
	return types, nil
}
