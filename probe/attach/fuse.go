package attach

// A Fuser compiles a handler for one place, so that the code of a hit there has in it what the handler does, and calls
// nothing.
type Fuser interface {
	// Ready reports whether such code may run in place of the handler now. If that changes, Parts.Refit must follow.
	//
	// Context: any.
	Ready() bool
	// Fuse compiles the handler for a place.
	//
	// Errors: why it cannot be compiled there.
	Fuse(at *Fusion) (*Fused, error)
}

// Fused is the code of a hit: it counts it, and does what the handler does. It continues after its end, runs at any address,
// and does not fault. Each of its effects is one instruction.
type Fused struct {
	Code    []byte
	Changes []uint8 // registers, of those that it may change
	// Bails is where the 4 bytes of the distances of jumps are that lead to where the handler is called after all. Nothing
	// has happened then, but that trap.OffsetRunning says that a program runs.
	Bails []int
}

// A Fusion is what code finds at a place, and may do there. Registers have their hardware numbers.
type Fusion struct {
	IP     uint64  // what the handler is told
	Count  int32   // at GS: what counts hits, 8 bytes
	Free   []uint8 // registers that nothing needs
	Others []uint8 // registers that can be saved, the best first
	Most   int     // of Others
	// Stack has registers that have something else, and how many bytes above SP what they had is.
	Stack map[uint8]uint8
}

// A Refitter is an Attachment of a kind that knows Fusers.
type Refitter interface {
	Attachment
	// Refit says that what Ready returns may have changed. When it returns, no CPU is in code that may not run any more.
	Refit()
}

// Refit says that what Options.Fuse's Ready returns may have changed. When it returns, no CPU is in code that may not run
// any more.
//
// Context: goroutine, not a handler.
func (p Parts) Refit() {
	for _, a := range p {
		switch a := a.(type) {
		case *Link:
			a.Parts.Refit()
		case Refitter:
			a.Refit()
		}
	}
}
