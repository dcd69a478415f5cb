// Package goruntime is the kernel's access to the Go runtime: everything that the kernel
// needs of it beyond what any Go program may use.
//
// The runtime's side is the overlay (boot/overlay/_runtime), which gives package runtime
// exported names that begin with Sonde. So the compiler checks every call, and the offsets
// of fields are constants that it computes from the runtime's own types. No other package
// uses these names (internal/layers checks that).
//
// Rejected: go:linkname in the packages that need something: it checks neither the types
// nor that the function still exists.
package goruntime
