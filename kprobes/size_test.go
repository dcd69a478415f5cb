package kprobes

import (
	"testing"
	"unsafe"
)

// TestNothingShared: what CPUs write during hits is on cache lines of their own.
func TestNothingShared(t *testing.T) {
	if n := unsafe.Sizeof(KretprobeInstance{}); n != 128 {
		t.Errorf("an instance has %d bytes, not 128", n)
	}
	if n := unsafe.Sizeof(ledger{}[0]); n != 128 {
		t.Errorf("a CPU's part of a ledger has %d bytes, not 128", n)
	}
}
