package trap

import "unsafe"

// Where in GS words of a CPU are, for code that is made while the kernel runs.
const (
	OffsetID = unsafe.Offsetof(CPU{}.ID) // its number, 4 bytes
	// OffsetInside is the first word of State, 8 bytes; OffsetState is all of that.
	OffsetInside = OffsetState
	OffsetState  = unsafe.Offsetof(CPU{}.State)
	// OffsetBreakpoints counts #BP.
	OffsetBreakpoints = unsafe.Offsetof(CPU{}.counts) + 8*vecBP
	// OffsetRunning is where made code notes that it runs on the CPU: 0, or where on the stack, the low half of SP. Code that
	// is no handler, and cannot be given up, notes 1, which is no such address.
	OffsetRunning = OffsetState + unsafe.Offsetof(State{}.running)
)

// Runs reports whether made code runs on c, and has begun between the addresses sp and frame of the stack. Half of
// an address tells: the stack is in the lowest 2 GiB of the direct mapping.
func (c *CPU) Runs(sp, frame uintptr) bool {
	at := c.State.running
	return at != 0 && at >= uint32(sp) && at < uint32(frame)
}

// Rescue notes that no made code runs on c any more, if it did between the addresses sp and frame of the
// stack, which is given up.
func (c *CPU) Rescue(sp, frame uintptr) {
	if c.Runs(sp, frame) {
		c.State.running = 0
	}
}
