package gotypes

import (
	"reflect"
	"slices"
	"testing"
)

// TestFieldAt: a field is found in structs in structs and in arrays; what package sync's types are made of is not named.
func TestFieldAt(t *testing.T) {
	types := []Desc{
		{},
		{Name: "internal/sync.Mutex", Kind: reflect.Struct, Size: 8, Fields: []Field{{"state", 2, 0}, {"sema", 2, 4}}},
		{Name: "int32", Kind: reflect.Int32, Size: 4},
		{Name: "sync.Mutex", Kind: reflect.Struct, Size: 8, Fields: []Field{{"_", 4, 0}, {"mu", 1, 0}}},
		{Name: "sync.noCopy", Kind: reflect.Struct},
		{Name: "x/p.T", Kind: reflect.Struct, Size: 40, Fields: []Field{{"n", 2, 0}, {"slots", 6, 8}, {"pos", 8, 24}}},
		{Kind: reflect.Array, Size: 16, Len: 2, Elem: 7},
		{Name: "x/p.slot", Kind: reflect.Struct, Size: 8, Fields: []Field{{"mu", 3, 0}}},
		{Name: "struct { a int32; mu sync.Mutex }", Kind: reflect.Struct, Size: 12, Fields: []Field{{"a", 2, 0}, {"mu", 3, 4}}},
	}
	table := &Table{info: &Info{Types: types}}
	for off, want := range map[int]struct {
		path  string
		owner ID
	}{8: {".slots[0].mu", 7}, 16: {".slots[1].mu", 7}, 28: {".pos.mu", 5}} {
		path, owner, ok := table.FieldAt(5, off, "internal/sync.Mutex")
		if !ok || path != want.path || owner != want.owner {
			t.Errorf("at %d: %s of type %d, %v; want %v", off, path, owner, ok, want)
		}
	}
	for _, off := range []int{-1, 0, 4, 12, 20, 24, 32, 36, 40, 1 << 20} {
		if path, _, ok := table.FieldAt(5, off, "internal/sync.Mutex"); ok {
			t.Errorf("at %d: %s", off, path)
		}
	}
	if got := table.WithField(0, "internal/sync.Mutex", 8, 40); !slices.Equal(got, []ID{1, 3, 7}) {
		t.Errorf("%v have a mutex first", got)
	}
	if got := table.WithField(8, "internal/sync.Mutex", 41, 100); len(got) != 0 {
		t.Errorf("%v have more than 40 bytes", got)
	}
}
