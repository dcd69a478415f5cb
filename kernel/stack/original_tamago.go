//go:build tamago

package stack

// SetOriginal makes f(ip) the place of code that runs at ip: for a copy of code, that which it was
// made of.
//
// Context: goroutine; f runs in any.
func SetOriginal(f func(ip uintptr) uintptr) { original.Store(&f) }
