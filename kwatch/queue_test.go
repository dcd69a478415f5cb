package kwatch

import (
	"sync"
	"testing"
)

func TestQueueKeepsOrderAndCountsLosses(t *testing.T) {
	var q Queue
	for i := range 300 {
		q.Put(&Hit{CPU: i})
	}
	for i := range 256 {
		if h, ok := q.Take(); !ok || h.CPU != i {
			t.Fatalf("%d: %+v, %v", i, h, ok)
		}
	}
	if _, ok := q.Take(); ok || q.Lost() != 44 {
		t.Errorf("%d lost", q.Lost())
	}
}

func TestQueueFromManyCPUs(t *testing.T) {
	var q Queue
	const each, cpus = 5000, 4
	var wg sync.WaitGroup
	for cpu := range cpus {
		wg.Go(func() {
			for i := range each {
				q.Put(&Hit{CPU: cpu, New: uint64(i)})
			}
		})
	}
	go func() { wg.Wait(); q.Put(&Hit{CPU: -1}) }()
	var next [cpus]uint64
	taken := uint64(0)
	for end := false; !end; {
		h, ok := q.Take()
		switch {
		case !ok:
			end = q.Lost()+taken >= each*cpus+1 // the last one may be lost, too
		case h.CPU < 0:
			end = true
		default:
			if h.New < next[h.CPU] {
				t.Fatalf("CPU %d: %d after %d", h.CPU, h.New, next[h.CPU])
			}
			next[h.CPU], taken = h.New+1, taken+1
		}
	}
	if taken+q.Lost() < each*cpus {
		t.Errorf("%d taken, %d lost", taken, q.Lost())
	}
}

func TestInstructionBefore(t *testing.T) {
	code := []byte{0x48, 0x89, 0xc8, 0xc6, 0x00, 0x01, 0x90, 0xc3} // MOVQ, MOVB, NOP, RET
	for off, want := range map[int]int{3: 0, 6: 3, 7: 6, 8: 7, 4: 4, 5: 5} {
		if got := before(code, off); got != want {
			t.Errorf("%d: %d, want %d", off, got, want)
		}
	}
}

// TestHitThatIsBeingPut is not taken yet.
func TestHitThatIsBeingPut(t *testing.T) {
	var q Queue
	q.put.Store(1) // another CPU has its place, and no hit in it
	if h, ok := q.Take(); ok {
		t.Errorf("%+v", h)
	}
}
