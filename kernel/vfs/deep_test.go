package vfs

import (
	"strings"
	"testing"
)

// TestPathOfADeepDirectory: a program can nest as many directories as there is memory, and nobody
// else makes a name while the path of one is put together. So that takes no copy for each of them.
func TestPathOfADeepDirectory(t *testing.T) {
	f := New()
	at := f.RootPlace()
	const depth = 2000
	for range depth {
		if err := f.MkdirAt(at, "directory", 0755); err != nil {
			t.Fatal(err)
		}
		var err error
		if at, err = f.PlaceAt(at, "directory", true, true); err != nil {
			t.Fatal(err)
		}
	}
	var path string
	var err error
	allocs := testing.AllocsPerRun(3, func() { path, err = at.Path() })
	if path != strings.Repeat("/directory", depth) || err != nil {
		t.Errorf("%d bytes, %v", len(path), err)
	}
	if allocs > 50 {
		t.Errorf("%.0f allocations", allocs)
	}
	if path, err := f.RootPlace().Path(); path != "/" || err != nil {
		t.Errorf("the root: %q, %v", path, err)
	}
}
