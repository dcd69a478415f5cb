package trap

import (
	"testing"
	"unsafe"
)

// TestFrameAboveTheTrapStack: the frame of soft traps is between the trap stack and what package percpu gives out.
func TestFrameAboveTheTrapStack(t *testing.T) {
	memory := make([]byte, AreaSize+page)
	base := (uintptr(unsafe.Pointer(&memory[0])) + page - 1) &^ (page - 1)
	a := Layout(base)
	lo, hi := a.CPU.TrapStack()
	if hi%16 != 0 || hi+frameSize != base+DataAt || lo+trapSize != base+DataAt {
		t.Errorf("the trap stack is from %#x to %#x, and at %#x is what percpu gives out; a frame has %d bytes", lo, hi, base+DataAt, frameSize)
	}
}
