package kprobes

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"
)

// TestPoolFindsEveryInstance: one CPU gets those of the others' lists, too, and what
// it gives back is there for all.
func TestPoolFindsEveryInstance(t *testing.T) {
	const n = 5
	for cpus := 1; cpus <= 7; cpus++ {
		var p pool
		p.init(&Kretprobe{}, n, cpus, 24)
		for id := range cpus {
			got := map[*KretprobeInstance]bool{}
			for range n {
				in := p.get(id)
				if in == nil || got[in] || len(in.Data) != 24 {
					t.Fatalf("%d CPUs, CPU %d: %d instances, then %v", cpus, id, len(got), in)
				}
				got[in] = true
			}
			if in := p.get(id); in != nil || p.inUse() != n {
				t.Errorf("%d CPUs, CPU %d: one too many, %d in use", cpus, id, p.inUse())
			}
			for in := range got {
				p.put(in, id)
			}
			if p.inUse() != 0 {
				t.Errorf("%d CPUs: %d in use when all are given back", cpus, p.inUse())
			}
		}
	}
}

// TestPoolIsAsLargeAsTheMachine: a return probe on a small machine is small.
func TestPoolIsAsLargeAsTheMachine(t *testing.T) {
	var p pool
	p.init(&Kretprobe{}, 4, 2, 0)
	size := unsafe.Sizeof(p) + uintptr(len(p.lists))*unsafe.Sizeof(freeList{}) + uintptr(len(p.instances))*unsafe.Sizeof(KretprobeInstance{})
	if size > 1024 {
		t.Errorf("two CPUs and four instances take %d bytes", size)
	}
}

// TestPoolFromAllCPUsAtOnce: no instance is handed out twice, none is lost. With fewer
// instances than CPUs most come from another CPU's list.
func TestPoolFromAllCPUsAtOnce(t *testing.T) {
	for _, n := range []int{2, 6} {
		fromAllCPUs(t, n)
	}
}

func fromAllCPUs(t *testing.T, n int) {
	const cpus, rounds = 4, 20000
	var p pool
	p.init(&Kretprobe{}, n, cpus, 0)
	owners := make([]atomic.Int64, n+1) // by index1
	var wg sync.WaitGroup
	for id := range cpus {
		wg.Go(func() {
			for i := range rounds {
				in := p.get(id)
				if in == nil {
					continue
				}
				if owners[in.index1].Add(1) != 1 {
					t.Error("an instance has two owners")
				}
				if i%100 == 0 {
					runtime.Gosched()
				}
				owners[in.index1].Add(-1)
				p.put(in, id)
			}
		})
	}
	wg.Wait()
	for i := range n {
		if p.get(0) == nil {
			t.Fatalf("only %d of %d instances are left", i, n)
		}
	}
	if p.get(0) != nil {
		t.Errorf("there are more than %d instances", n)
	}
}
