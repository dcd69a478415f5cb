//go:build !tamago

// Package lab5 decides whether a jump may replace the code at a place.
package lab5

// JumpSize is the length of the jump, in bytes.
const JumpSize = 5

// A Function is what is known about a function.
type Function struct {
	Addr    uint64   // of its first byte
	Code    []byte   // all of it
	Entries []uint64 // addresses inside it to which code of other functions leads
}

// A Reason says why there can be no jump.
type Reason string

// The reasons.
const (
	Fine       Reason = ""          // there can be one
	NoFunction Reason = "function"  // the function is not understood: see Check
	Boundary   Reason = "boundary"  // no instruction begins at the place
	End        Reason = "end"       // the function ends within the jump's bytes
	Branch     Reason = "branch"    // a branch of the function leads to a byte under the jump
	Entry      Reason = "entry"     // code of another function does
	Return     Reason = "return"    // a call returns to a byte under the jump
	Address    Reason = "address"   // the function computes the address of a byte under the jump
	Unmovable  Reason = "unmovable" // an instruction does not do the same in another place
)
