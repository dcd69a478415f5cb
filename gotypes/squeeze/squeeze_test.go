package squeeze

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// numbers are coded with what comes before them as contexts.
type numbers []uint32

// walk codes the list in both ways, and returns what it has read.
func (list numbers) walk(c *Coder) (got numbers) {
	last, before := uint32(0), uint32(0)
	for i, v := range list {
		if i%2 == 0 {
			v = c.Number(v, 1, last, Hash(last, before))
		} else {
			v = c.Index(v&0xfff, 12, 2, last)
		}
		got = append(got, v)
		last, before = v, last
	}
	return got
}

// samples are numbers of all sizes, and many alike.
func samples(n int) (list numbers) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		v := uint32(r.Uint64() >> (32 + r.IntN(32)))
		switch {
		case i%2 == 1:
			v &= 0xfff
		case v == 1<<32-1:
			v--
		case r.IntN(3) > 0:
			v %= 5
		}
		list = append(list, v)
	}
	return append(list, 1<<32-2, 0xfff, 0)
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	list := samples(20_000)
	w := NewWriter()
	if got := list.walk(w); !slices.Equal(got, list) {
		t.Error("a writer returns other numbers than it is given")
	}
	r := NewReader(w.Bytes())
	if got := make(numbers, len(list)).walk(r); !slices.Equal(got, list) {
		t.Error("other numbers are read than were written")
	}
	if r.Ended() || !r.Reads() || w.Reads() {
		t.Error("the end comes before the last number")
	}
	r.Number(0, 1)
	for range 100 {
		r.Number(0, 1)
	}
	if !r.Ended() {
		t.Error("reading has no end")
	}
}

// TestWhatIsKnownTakesNothing: what contexts tell takes a fraction of a bit, noise what it has and little
// more.
func TestWhatIsKnownTakesNothing(t *testing.T) {
	const n = 10_000
	known, noise := NewWriter(), NewWriter()
	r := rand.New(rand.NewPCG(3, 4))
	for i := range uint32(n) {
		known.Number(i*i%97, 0, i%97)
		noise.Index(r.Uint32()&0xff, 8, 0, i%97)
	}
	if got := len(known.Bytes()); got > n/40 {
		t.Errorf("%d numbers of a rule take %d bytes", n, got)
	}
	if got := len(noise.Bytes()); got < n || got > n*21/20 {
		t.Errorf("%d random bytes take %d", n, got)
	}
}

// TestNothingIsCertain: what was always so may change.
func TestNothingIsCertain(t *testing.T) {
	w := NewWriter()
	for range 100_000 {
		w.Index(1, 1, 0)
	}
	before := len(w.data)
	w.Index(0, 1, 0)
	for range 100 {
		w.Index(1, 1, 0)
	}
	r := NewReader(w.Bytes())
	for i := range 100_001 {
		if got := r.Index(0, 1, 0); got == 1 == (i == 100_000) {
			t.Fatalf("number %d is %d", i, got)
		}
	}
	if before > 100 {
		t.Errorf("100,000 times the same takes %d bytes", before)
	}
}
