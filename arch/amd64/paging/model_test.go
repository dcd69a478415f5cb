package paging

import (
	"math/rand"
	"testing"

	. "sonde/arch/amd64"
)

// Random operations are compared with a plain page-by-page model.
func TestAgainstAModel(t *testing.T) {
	type page struct{ pa, flags uint64 }
	const base, pages = kernel - 3*BigSize, 6 * 512 // across a GiB boundary
	for seed := range int64(20) {
		rnd := rand.New(rand.NewSource(seed))
		tb, model := fresh(12), map[uint64]page{}
		for range 60 {
			first, n := uint64(rnd.Intn(pages)), uint64(1+rnd.Intn(4))
			if rnd.Intn(2) == 0 {
				first, n = first&^511, uint64(1+rnd.Intn(3))*512
			}
			n = min(n, pages-first)
			flags := []uint64{0, PTE_W, PTE_NX, PTE_U | PTE_G}[rnd.Intn(4)]
			pa := first * PageSize
			if rnd.Intn(3) == 0 {
				pa += PageSize
			}
			have := uint64(0)
			for i := first; i < first+n; i++ {
				if _, ok := model[i]; ok {
					have++
				}
			}
			va, size, want := base+first*PageSize, n*PageSize, OK
			var got Code
			op := rnd.Intn(3)
			switch op {
			case 0:
				if got = tb.Map(va, pa, size, flags); have != 0 {
					want = Overlap
				}
			case 1:
				if got = tb.Unmap(va, size); have != n {
					want = NotMapped
				}
			case 2:
				if got = tb.Protect(va, size, flags); have != n {
					want = NotMapped
				}
			}
			if got != want && got != OutOfPages {
				t.Fatalf("seed %d: op %d: %v, want %v", seed, op, got, want)
			}
			for i := first; i < first+n && got == OK; i++ {
				switch op {
				case 0:
					model[i] = page{pa + (i-first)*PageSize, flags}
				case 1:
					delete(model, i)
				case 2:
					model[i] = page{model[i].pa, flags}
				}
			}
			for i := uint64(0); i < pages; i++ {
				p, f, ok := tb.Lookup(base + i*PageSize)
				m, mapped := model[i]
				if ok != mapped || ok && (p != m.pa || f&^PTE_PS != m.flags|PTE_P) {
					t.Fatalf("seed %d: page %d: %#x %#x %v, want %+v %v", seed, i, p, f, ok, m, mapped)
				}
			}
		}
	}
}
