package pci

import (
	"math/rand/v2"
	"testing"
)

// TestWildHeaders: any content gives ranges, or none, and no panic.
func TestWildHeaders(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	for range 20000 {
		var h Header
		for i := range h.Words {
			h.Words[i], h.Masks[i] = rnd.Uint32(), rnd.Uint32()
		}
		for _, r := range h.Regions() {
			if r.Size == 0 || r.Start == 0 {
				t.Fatalf("%+v of %+v", r, h)
			}
		}
	}
}
