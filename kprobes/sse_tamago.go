//go:build tamago

package kprobes

import (
	"sync"

	"sonde/arch/amd64/trap"
	"sonde/kernel/printk"
)

// Saving and restoring X0-X14 would be a third of what a hit costs, and most
// handlers do not touch them. So the trap layer leaves them to us, and package
// reach proves by reading the code, once per handler, which handlers do. For those
// that fail the proof they are saved first.

// sse remembers the answers.
var sse struct {
	mu    sync.Mutex
	known map[uintptr]bool // by address of the code: it may write X0-X14
}

// writesSSE reports whether the function f, which may be nil, may change X0-X14.
//
// Context: goroutine.
func writesSSE(f any) bool {
	pc := codeOf(f)
	if pc == 0 {
		return false
	}
	sse.mu.Lock()
	defer sse.mu.Unlock()
	w, ok := sse.known[pc]
	if !ok {
		w = image().KeepsSSE(uint64(pc)) != nil
		if sse.known == nil {
			sse.known = map[uintptr]bool{}
		}
		sse.known[pc] = w
	}
	return w
}

// goLean has the trap layer leave X0-X14 to us, if our own way through a hit
// leaves them alone. Should the compiler ever make it otherwise, every trap
// saves them, and says so.
func goLean() {
	if err := image().HitKeepsSSE(); err != nil {
		printk.Warn("kprobes: hits save all SSE registers: %s", err.Error())
		return
	}
	lean = true
	trap.LazyXMM()
}
