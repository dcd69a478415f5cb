package vfs

import "testing"

// TestClosedDirectoryIsNotWatched: what NotifyEntries began ends with the last use of the file.
func TestClosedDirectoryIsNotWatched(t *testing.T) {
	before := watching.Load()
	f, err := Open("/", O_RDONLY)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := f.NotifyEntries(1, false, 3); err != nil {
			t.Fatal(err)
		}
	}
	if n := watching.Load() - before; n != 1 {
		t.Errorf("%d watches, want 1", n)
	}
	f.Close()
	if n := watching.Load() - before; n != 0 {
		t.Errorf("%d watches are left", n)
	}
}
