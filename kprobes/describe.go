package kprobes

// How is how a probed instruction gets executed when a breakpoint has been hit.
type How uint8

// The ways. Optimized probes have theirs: the copy in the detour.
const (
	Refused  How = iota // such a probe is not registered
	Emulated            // done on the saved registers
	Decided             // a stack check, done on the saved registers once for all its instructions
	Boosted             // the copy in the slot runs, and jumps back
	Stepped             // the copy in the slot is single-stepped
)

// Description is what there is to know of a place for probes. What is about
// detours, and whether there can be one, package optprobe knows.
type Description struct {
	Symbol string  // the function
	Func   uintptr // its address
	Size   uintptr // its length in bytes
	Addr   uintptr // the place
	Pre    How     // with pre-handlers only
	Post   How     // with a post-handler
	Check  int     // bytes of the stack check that begins here, up to its last branch; 0: none
	NoRet  string  // why no return probe can be here
	NoJump string  // why no jump is put in now, whatever the code: "" if nothing is in the way

	Probes []ProbeInfo // those there now, in order of registration
	Armed  bool        // a breakpoint or a jump is in place
	Jumped bool        // a jump
	Slot   uintptr     // of the probes there, 0 for none
	Detour *Detour     // likewise, nil for none
	Near   []Neighbour // probes close by, in order of address
}

// ProbeInfo is one probe of a place.
type ProbeInfo struct {
	Kind     string   // k, r, j: the letters of the list file
	Handlers []string // what it calls
	Disabled bool
	Entered  uint64 // hits so far
}

// Neighbour is another probed place.
type Neighbour struct {
	Addr   uintptr
	Covers uintptr // bytes that its detour covers, 0 without one
	Jumped bool
}
