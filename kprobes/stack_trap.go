//go:build tamago

package kprobes

// Trap context. What hits read of the goroutine that they interrupt.

import (
	"unsafe"

	"sonde/kernel/goruntime"
)

// stackRoom is what a stack check leaves free above the end of a stack, in bytes.
const stackRoom = goruntime.StackRoom

// stackGuard returns the stack limit of g, from where every prologue reads it.
func stackGuard(g unsafe.Pointer) uint64 { return uint64(goruntime.StackGuard(g)) }

// stackLow returns where the stack of g ends.
func stackLow(g unsafe.Pointer) uint64 {
	lo, _ := goruntime.Stack(g)
	return uint64(lo)
}
