package kprobes

import (
	"sync/atomic"
	"unsafe"

	"sonde/probe/ledger"
)

// Trap context, except init: instances are taken and freed on every call of a probed
// function, on all CPUs at once.

// pool has the instances of one return probe. Each CPU has a list of free ones on its own
// cache line; if that is empty it takes one from another CPU's list, so that no hit is
// missed while an instance is free. The head of a list carries a tag, so that any context
// can change it without a lock.
type pool struct {
	lists     []freeList // by CPU
	instances []KretprobeInstance
}

type freeList struct {
	_    [8]uint64     // as in account
	head atomic.Uint64 // tag<<32 | index+1
	_    [7]uint64
}

// init makes n instances of rp, with size bytes of data each, spread over cpus lists.
func (p *pool) init(rp *Kretprobe, n, cpus int, size uintptr) {
	p.instances = make([]KretprobeInstance, n)
	p.lists = make([]freeList, cpus)
	data := make([]byte, uintptr(n)*size)
	for i := range p.instances {
		in := &p.instances[i]
		in.RP, in.index1 = rp, uint64(i)+1
		in.Data = data[uintptr(i)*size : uintptr(i+1)*size : uintptr(i+1)*size]
		p.lists[i%cpus].push(in)
	}
}

// get takes a free instance, nil if there is none.
//
// It is nosplit since each call of a probed function comes here.
//
// Context: any, on CPU id.
//
//go:nosplit
func (p *pool) get(id int) *KretprobeInstance {
	l := &p.lists[id]
	old := l.head.Load()
	if i := uint64(uint32(old) - 1); i < uint64(len(p.instances)) {
		in := &p.instances[i]
		if l.head.CompareAndSwap(old, (old>>32+1)<<32|atomic.LoadUint64(&in.nextFree)) {
			in.busy = true
			return in
		}
	}
	return p.find(id)
}

// find is the slow path of get.
func (p *pool) find(id int) *KretprobeInstance {
	for range p.lists {
		if in := p.lists[id].pop(p.instances); in != nil {
			in.busy = true
			return in
		}
		if id++; id == len(p.lists) {
			id = 0
		}
	}
	return nil
}

// put frees an instance.
//
// Context: any, on CPU id.
func (p *pool) put(in *KretprobeInstance, id int) {
	in.busy = false
	p.lists[id].push(in)
}

// inUse counts the instances in use.
//
// Context: any.
func (p *pool) inUse() (n int64) {
	for i := range p.instances {
		if p.instances[i].busy {
			n++
		}
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
		next := atomic.LoadUint64(&in.nextFree)
		if l.head.CompareAndSwap(old, (old>>32+1)<<32|next) {
			return in
		}
	}
}

func (l *freeList) push(in *KretprobeInstance) {
	for {
		old := l.head.Load()
		atomic.StoreUint64(&in.nextFree, uint64(uint32(old))) // pop may still look at it
		if l.head.CompareAndSwap(old, (old>>32+1)<<32|in.index1) {
			return
		}
	}
}

// instanceShift is for assembly, which finds an instance by its index.
const instanceShift = 7

// This does not compile unless the sizes are what the shift says, and what
// state.part is made with.
var (
	_ [0]struct{} = [unsafe.Sizeof(freeList{}) - 1<<ledger.AccountShift]struct{}{}
	_ [0]struct{} = [unsafe.Sizeof(KretprobeInstance{}) - 1<<instanceShift]struct{}{}
)
