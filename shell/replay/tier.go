package replay

import (
	"slices"
	"strings"
	"syscall"

	"sonde/kernel/refusal"
)

// A Tier is how a hit is to come.
type Tier uint8

// The tiers. All but AsIs make sure that there is a probe which gets such hits.
const (
	AsIs      Tier = iota // as the place has it; an empty kprobe if there is none
	Int3                  // by a breakpoint
	Boost                 // by a breakpoint, and the copy runs by itself
	Step                  // by a breakpoint, and the copy is single-stepped
	Jump                  // by a jump
	Return                // of a return probe
	Jprobe                // of a jprobe
	Goroutine             // of a program, by a breakpoint whose handlers may block
)

var tierNames = []string{"", "int3", "boost", "step", "jump", "return", "jprobe", "goroutine"}

// ParseTier reads the name of a tier.
//
// Errors: EINVAL.
func ParseTier(s string) (Tier, error) {
	if i := slices.Index(tierNames, s); i > 0 {
		return Tier(i), nil
	}
	return AsIs, refusal.New(syscall.EINVAL, "%q is not a kind of probe; give one of %s", s, strings.Join(tierNames[1:], ", "))
}

// breakpoint reports whether no jump may take the breakpoint's place.
func (t Tier) breakpoint() bool { return t == Int3 || t == Boost }
