package kprobes

// Trap context. The instances of a return probe are taken and given back on
// every call of a probed function, on all CPUs at once.

import (
	"sync/atomic"

	"sonde/arch/amd64/trap"
)

// pool is the instances of one return probe. Each CPU has a list of free ones
// on a cache line of its own; where that is empty another's is taken from, so
// that none stays unused while one is missed. The head of a list carries a tag,
// so that it can be changed without a lock from any context.
type pool struct {
	instances []KretprobeInstance
	lists     [trap.MaxCPUs]freeList
}

type freeList struct {
	head atomic.Uint64 // tag<<32 | index+1
	used atomic.Int64  // taken from any list by this CPU, less given back
	_    [6]uint64
}

// init makes n instances of rp with size bytes of data each, spread over cpus
// lists.
//
// Context: goroutine.
func (p *pool) init(rp *Kretprobe, n, cpus int, size uintptr) {
	p.instances = make([]KretprobeInstance, n)
	p.lists = [trap.MaxCPUs]freeList{}
	data := make([]byte, uintptr(n)*size)
	for i := range p.instances {
		in := &p.instances[i]
		in.RP, in.index = rp, uint32(i)
		in.Data = data[uintptr(i)*size : uintptr(i+1)*size : uintptr(i+1)*size]
		p.lists[i%cpus&(trap.MaxCPUs-1)].push(in)
	}
}

// get takes a free instance, nil if there is none.
//
// Context: any, on CPU id.
func (p *pool) get(id int) *KretprobeInstance {
	for i := range p.lists {
		l := &p.lists[(id+i)&(trap.MaxCPUs-1)]
		if in := l.pop(p.instances); in != nil {
			p.lists[id&(trap.MaxCPUs-1)].used.Add(1)
			return in
		}
	}
	return nil
}

// put gives an instance back.
//
// Context: any, on CPU id.
func (p *pool) put(in *KretprobeInstance, id int) {
	l := &p.lists[id&(trap.MaxCPUs-1)]
	l.used.Add(-1)
	l.push(in)
}

// inUse is how many instances are taken.
//
// Context: any.
func (p *pool) inUse() (n int64) {
	for i := range p.lists {
		n += p.lists[i].used.Load()
	}
	return n
}

func (l *freeList) pop(all []KretprobeInstance) *KretprobeInstance {
	for {
		old := l.head.Load()
		i := int(uint32(old)) - 1
		if i < 0 || i >= len(all) {
			return nil
		}
		in := &all[i]
		next := uint64(atomic.LoadUint32(&in.nextFree))
		if l.head.CompareAndSwap(old, (old>>32+1)<<32|next) {
			return in
		}
	}
}

func (l *freeList) push(in *KretprobeInstance) {
	for {
		old := l.head.Load()
		atomic.StoreUint32(&in.nextFree, uint32(old))
		if l.head.CompareAndSwap(old, (old>>32+1)<<32|uint64(in.index+1)) {
			return
		}
	}
}
