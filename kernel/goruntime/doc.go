// Package goruntime is the kernel's way into the Go runtime: all that the kernel
// asks of it beyond what any Go program may.
//
// The runtime's side is the overlay (boot/overlay/_runtime), which gives package
// runtime exported names that begin with Sonde. So the compiler checks every call,
// and the offsets of fields are constants that it computes from the runtime's own
// types. No other package uses these names (internal/layers).
//
// Rejected: go:linkname in the packages that need something, which checks neither
// the types nor that the function is still there.
package goruntime
