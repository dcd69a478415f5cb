package lang

import (
	"math/rand/v2"
	"testing"
)

// TestReciprocal: a multiplication and a shift give what a division gives, at both ends of each part.
func TestReciprocal(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	found := 0
	for range 20_000 {
		size := 1 + r.Int64N(1<<r.IntN(32))
		most := max(size, min(size*(1+r.Int64N(1000)), 1<<32-1))
		factor, shift, ok := reciprocal(most, size)
		if !ok {
			continue
		}
		found++
		for part := range most/size + 1 {
			for _, n := range []int64{part * size, min(most, part*size+size-1)} {
				if got := int64(uint64(n) * uint64(factor) >> shift); got != n/size {
					t.Fatalf("%d / %d is %d by * %d >> %d, up to %d", n, size, got, factor, shift, most)
				}
			}
		}
	}
	if found < 15_000 {
		t.Errorf("only %d of 20000 divisions have a factor", found)
	}
}
