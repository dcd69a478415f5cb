// Package irq calls handlers for device interrupts, and wakes goroutines from them.
package irq
