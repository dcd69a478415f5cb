package trap

import "unsafe"

// Where in GS words of a CPU are, for code that is made while the kernel runs.
const (
	OffsetID = unsafe.Offsetof(CPU{}.ID) // its number, 4 bytes
	// OffsetRunning is where made code notes that it runs on the CPU: 0, or where on the stack.
	OffsetRunning = unsafe.Offsetof(CPU{}.running)
)

// Runs reports whether made code runs on c, and has begun between the addresses sp and frame of the stack.
func (c *CPU) Runs(sp, frame uintptr) bool { return c.running >= sp && c.running < frame }

// Rescue notes that no made code runs on c any more, if it did between the addresses sp and frame of the
// stack, which is given up.
func (c *CPU) Rescue(sp, frame uintptr) {
	if c.Runs(sp, frame) {
		c.running = 0
	}
}
