//go:build tamago

package handler

// Trap context.

import "sonde/arch/amd64/trap"

// reasons has, by CPU, why a handler was abandoned last; it ends with a zero.
var reasons [trap.MaxCPUs][64]byte

// keepReason notes why a handler of CPU id is abandoned. copy would keep probes away from memmove.
func keepReason(id int, why, text string) {
	to := &reasons[id]
	n := 0
	put := func(s string) {
		for i := 0; i < len(s) && n < len(to)-1; i++ {
			to[n] = s[i]
			n++
		}
	}
	put(why)
	if text != "" {
		put(": ")
		put(text)
	}
	to[n] = 0
}

// Reason copies why a handler was abandoned last on CPU id; the text ends with a zero.
//
// Context: trap, on that CPU.
func Reason(id int, to *[64]byte) {
	for i := range to {
		to[i] = reasons[id][i]
	}
}
