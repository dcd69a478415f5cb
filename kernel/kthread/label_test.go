package kthread

import (
	"slices"
	"testing"
	"unsafe"
)

// TestNamesOfGoroutines: a goroutine has its thread's name, which it hands on, and a command's while it runs that;
// other labels stay as they are.
func TestNamesOfGoroutines(t *testing.T) {
	var names []string
	note := func() { names = append(names, NameOf(unsafe.Pointer(t))+" "+Label("module")) }
	note()
	With("module", "m", func() {
		<-Run("worker 7", func() {
			note()
			As("cat", func() {
				inherited := make(chan struct{})
				go func() { note(); close(inherited) }()
				<-inherited
			})
			note()
			With("module", "n", note)
		}).Done()
		note()
	})
	note()
	if want := []string{" ", "worker m", "cat m", "worker m", "worker n", " m", " "}; !slices.Equal(names, want) {
		t.Errorf("%q, not %q", names, want)
	}
}
