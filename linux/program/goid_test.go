package program

import (
	"runtime"
	"testing"
)

// TestGoidOffset: this program says which Go has compiled it; a program of C has no goroutines.
func TestGoidOffset(t *testing.T) {
	f := self(t)
	if v := f.goVersion(); v != runtime.Version() {
		t.Errorf("%q, want %q", v, runtime.Version())
	}
	if f.GoidOffset() == 0 {
		t.Error("a program of Go has goroutines")
	}
	if (&File{}).GoidOffset() != 0 {
		t.Error("a program of another language has none")
	}
}
