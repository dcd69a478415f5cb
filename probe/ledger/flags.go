package ledger

import "sync/atomic"

// Flags are bits that hits read while others change them.
//
// Context: any, for all of its methods.
type Flags uint32

// Has reports whether one of the bits f is set.
func (p *Flags) Has(f Flags) bool { return Flags(atomic.LoadUint32((*uint32)(p)))&f != 0 }

// Set sets the bits f, and reports whether none of them was set before.
func (p *Flags) Set(f Flags) (first bool) {
	return Flags(atomic.OrUint32((*uint32)(p), uint32(f)))&f == 0
}

// Clear clears the bits f.
func (p *Flags) Clear(f Flags) { atomic.AndUint32((*uint32)(p), ^uint32(f)) }
