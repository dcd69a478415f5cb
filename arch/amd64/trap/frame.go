package trap

import "unsafe"

// Frame is the data below Regs: see frame_amd64.h. A program's Context has one, too, for the hits
// that are handled on its registers. It has no pointers, so that a Context has none.
type Frame struct {
	spill [2]uintptr
	g     uintptr // the interrupted *runtime.g
	cpu   uint64
	flags uint32
	saved uint32 // soft traps write 0 with flags
	// probes is the value of SetProbes for the CPU.
	probes uintptr
	xmm    [16][16]byte
}

// frameSize is the size of a frame: this and the Regs above it.
const frameSize = unsafe.Sizeof(Frame{}) + regSize

// Trap stacks are aligned although a frame is above them. If it does not fit, this does not compile.
var _ [0]struct{} = [frameSize % 16]struct{}{}
