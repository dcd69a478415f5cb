package text

import "sync/atomic"

// original is what SetOriginal set.
var original atomic.Pointer[func(addr, n uintptr) []byte]

// SetOriginal makes f the one who knows code as it was linked, whatever has been written
// there since.
func SetOriginal(f func(addr, n uintptr) []byte) { original.Store(&f) }

// Original returns the n bytes of code at addr as they were linked; nil if it is not known.
func Original(addr, n uintptr) []byte {
	if f := original.Load(); f != nil {
		return (*f)(addr, n)
	}
	return nil
}
