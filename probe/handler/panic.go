package handler

import (
	"fmt"
	"runtime/debug"

	"sonde/kernel/printk"
)

// Panicked logs that a handler in a goroutine has not returned, and that its probe is disabled
// therefore: the caller does that. e is what it panicked with, nil if it ended its goroutine.
//
// Context: goroutine, a deferred function: the log gets the handler's calls.
func Panicked(kind, probe string, e any) {
	if e == nil {
		e = "runtime.Goexit"
	}
	printk.Err("%s: %v in the handler of %s, which is disabled\n%s", kind, fmt.Sprint(e), probe, debug.Stack())
}
