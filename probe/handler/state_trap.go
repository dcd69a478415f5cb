package handler

// Trap context.

// State is what one CPU knows of the handler of one kind that it runs. It holds addresses, because
// storing a pointer needs a write barrier: the kind keeps what they are of.
type State struct {
	Probe uintptr // whose handler runs; 0: none
	Seq   uint64  // counts handlers, to tell one from the next
	Frame uintptr // the *amd64.Regs of the hit; set before Begin
	dying uint64  // Seq of the handler abandoned last: its report may not be abandoned, too
}

// Begin says that a handler of probe is about to be called, End that it has returned.
func (s *State) Begin(probe uintptr) {
	s.Seq++
	s.Probe = probe
}

func (s *State) End() { s.Probe = 0 }
