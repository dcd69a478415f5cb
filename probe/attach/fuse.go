package attach

// A Fuser compiles a handler for one place, so that the code of a hit there has in it what the handler does, and calls
// nothing.
type Fuser interface {
	// Ready reports whether such code may run in place of the handler now. If that changes, Parts.Refit must follow.
	//
	// Context: any.
	Ready() bool
	// Fuse returns the code for a place, and which registers it changes, of those that it may. The code goes on behind its
	// end, runs at any address, and does not fault. Each of its effects is one instruction.
	//
	// Errors: why the handler cannot be compiled for this place.
	Fuse(at *Fusion) (code []byte, changes []uint8, err error)
}

// A Fusion is what code finds at a place, and may do there. Registers have their hardware numbers.
type Fusion struct {
	IP     uint64  // what the handler is told
	Free   []uint8 // registers that nobody needs
	Others []uint8 // registers that can be saved, the best first
	Most   int     // of Others
	Stack  bool    // AX has something else, and what it had is at SP
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
