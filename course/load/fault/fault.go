// Package fault says what is wrong in the post office of lab 4, for each seed: the workload makes it
// so, and the grader knows it.
package fault

import (
	"hash/fnv"
	"math/rand/v2"
)

// A Fault is what becomes of some letters.
type Fault struct {
	Function string // of package load, where they are lost
	Cause    string // too-heavy, wrong-hole, address-overwritten
	Code     string // the statement at fault
	Every    int    // of each so many letters, one is lost
	First    int    // the number of the first
	Size     int    // how much too heavy, too far or too long
}

// kinds are the faults that there are.
var kinds = []Fault{
	{Function: "Weigh", Cause: "too-heavy", Code: "return false"},
	{Function: "Sort", Cause: "wrong-hole", Code: "holes[hole] = e"},
	{Function: "Cancel", Cause: "address-overwritten", Code: "copy(e.Face[:], mark)"},
}

// Of returns the fault that belongs to a seed.
func Of(seed string) Fault {
	hash := fnv.New64a()
	hash.Write([]byte(seed))
	random := rand.New(rand.NewPCG(hash.Sum64(), 4))
	f := kinds[random.IntN(len(kinds))]
	f.Every = 5 + random.IntN(20)
	f.First = random.IntN(f.Every)
	f.Size = 1 + random.IntN(7)
	return f
}

// Has reports whether a letter is one of those that are lost.
func (f *Fault) Has(number int) bool { return number%f.Every == f.First }

// Lost returns how many of the first n letters are lost.
func (f *Fault) Lost(n int) (lost int) {
	for i := range n {
		if f.Has(i) {
			lost++
		}
	}
	return lost
}
