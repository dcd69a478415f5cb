package abi

import "unsafe"

// Bytes is the memory of v, which must have no pointers.
func Bytes[T any](v *T) []byte {
	// Safe because: the slice is as long as v, and keeps it alive.
	return unsafe.Slice((*byte)(unsafe.Pointer(v)), unsafe.Sizeof(*v))
}
