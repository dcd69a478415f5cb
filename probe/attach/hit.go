package attach

import (
	"unsafe"

	"sonde/arch/amd64"
)

// A Hit is what a handler learns of one hit. It is valid until the handler returns, and takes no
// memory from the heap: a handler copies what it wants to keep.
type Hit struct {
	Regs  *amd64.Regs // of the code that was hit; IP must stay as it is
	Place *Place      // what was hit
	IP    uint64      // the instruction's address; of data, and of a return, where execution continues

	Returns  bool   // a function or a system call returns
	MayBlock bool   // the handler is called in a goroutine: it may allocate, lock and wait
	Old, New uint64 // of a watchpoint: the value before and after

	// Data is the call's own memory, Options.Data words of it: the entry handler fills it in, the
	// handler of the return reads it.
	Data []uint64
}

// Result is what the function or system call returns, for a hit of a return: the first word of it.
//
// Context: the handler.
// Source: System V ABI, AMD64 supplement, "Returning of Values"; Go's ABIInternal.
func (h *Hit) Result() uint64 { return h.Regs.AX }

// Call calls a handler with h.
//
// h is the caller's local variable and must not be moved to the heap, where a trap cannot allocate.
// Safe because: handlers keep no pointer to their hit.
//
// Context: any.
//
//go:nosplit
func (h *Hit) Call(f Handler) {
	p := uintptr(unsafe.Pointer(h))
	f(*(**Hit)(unsafe.Pointer(&p)))
}

// CallEntry is Call for a handler that may decline the call.
//
// Context: any.
//
//go:nosplit
func (h *Hit) CallEntry(f EntryHandler) bool {
	p := uintptr(unsafe.Pointer(h))
	return f(*(**Hit)(unsafe.Pointer(&p)))
}
