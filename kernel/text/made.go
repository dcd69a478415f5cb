package text

import "sync/atomic"

// made is what SetMade set.
var made atomic.Pointer[func(addr uintptr) (start uintptr, name string)]

// SetMade makes f the one who knows code that was made while the kernel runs: where what addr is in
// begins, and its name; 0: nothing is there.
//
// Context: goroutine; f runs in any.
func SetMade(f func(addr uintptr) (start uintptr, name string)) { made.Store(&f) }

// Made returns where the made code begins that addr is in, and its name; 0: it is in none.
//
// Context: any.
func Made(addr uintptr) (start uintptr, name string) {
	if f := made.Load(); f != nil {
		return (*f)(addr)
	}
	return 0, ""
}
