package program

import "sync"

// maxDepth is how many calls of a stack a program can get at most, as in Linux.
const maxDepth = 127

// A scratchpad is memory for the helpers on one CPU, where one runs at a time: what is handed to functions
// that boot provides must not lie on the stack.
type scratchpad struct {
	pcs   [maxDepth]uintptr
	piece [maxWidth]byte
	_     [lineSize - 56]byte
}

// scratch is by CPU. It is made before the first program calls a helper.
var (
	scratch     []scratchpad
	makeScratch = sync.OnceFunc(func() { scratch = make([]scratchpad, cpus()) })
)
