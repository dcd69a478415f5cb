package kprobes

import (
	"sync/atomic"
	"syscall"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/kernel/probe"
	"sonde/kprobes/machine"
)

// KretprobeHandler runs when a probed call enters or returns. An entry handler that
// returns 0 is sure of its return handler, unless the call never returns, or the
// probe is unregistered before. One that returns another value declines the call:
// no return handler is called for it. What a return handler returns is ignored.
//
// Context: trap. Interrupts are as the probed function has them for a return
// handler, and for an entry handler that is reached by a jump; they are off for one
// that is reached by a breakpoint.
// Source: spec/4 §1.3.2, §5.
type KretprobeHandler func(ri *KretprobeInstance, r *amd64.Regs) int

// Kretprobe is a return probe on a function: the function's entry is KP, of
// which only SymbolName or Addr, and FlagDisabled, are to be set.
type Kretprobe struct {
	KP           Kprobe           // first: a *Kprobe of kindKretprobe is a *Kretprobe
	Handler      KretprobeHandler // called when a call returns; nil: returns are counted
	EntryHandler KretprobeHandler // called when it is entered; may be nil
	MaxActive    int              // calls probed at the same time; 0 or less: the number of CPUs
	DataSize     uintptr          // bytes of private data per call

	pool   pool
	sse    bool             // Handler may change X0-X14
	direct KretprobeHandler // Handler, if it may not
}

// KretprobeInstance is one call that has been entered and will return. Its field
// RetAddr, a uintptr, is the address that it will return to.
type KretprobeInstance struct {
	ret // first: the runtime's sondeRet; with RetAddr

	RP   *Kretprobe // the probe
	Task Task       // the goroutine
	Data []byte     // DataSize bytes, what the entry handler left there

	busy     bool     // not in the pool
	index1   uint64   // in the pool, counted from 1
	nextFree uint64   // index1 of the next in the pool, 0 at its end
	_        [40]byte // to two cache lines: another CPU uses the next instance
}

// ret is the runtime's sondeRet: see the overlay's sonde_ret.go.
type ret struct {
	next    uintptr // *ret
	off     uintptr // stack top less the address of the return address
	RetAddr uintptr // the real return address
}

// NMissed returns how often the function was entered with all MaxActive instances
// in use. Entries inside another handler are counted by rp.KP.NMissed, as for any
// probe.
//
// Context: any.
// Source: spec/4 §1.3.1; for KP.NMissed §5.
func (rp *Kretprobe) NMissed() uint64 { return rp.Ledger().NoInst }

// Hits returns how often the return handler has run.
//
// Context: any.
func (rp *Kretprobe) Hits() uint64 { return rp.Ledger().Handled }

// Ledger returns the probe's account.
//
// Context: any.
func (rp *Kretprobe) Ledger() Ledger {
	l := rp.KP.Ledger()
	l.InFlight = uint64(rp.pool.inUse())
	return l
}

// RegsReturnValue returns what the function returns, from the register that Go
// and C return the first result in.
//
// Context: a return handler.
func RegsReturnValue(r *amd64.Regs) uint64 { return r.AX }

// graveyard keeps return probes that were unregistered with calls in flight:
// those calls still return through their instances. guarded by mu
var graveyard []*Kretprobe

func tidyGraveyard() {
	keep := graveyard[:0]
	for _, rp := range graveyard {
		if rp.pool.inUse() > 0 {
			keep = append(keep, rp)
		}
	}
	clear(graveyard[len(keep):])
	graveyard = keep
}

// What a return probe may ask for: calls at the same time, far beyond the
// goroutines of this kernel, and bytes for each.
const (
	maxMaxActive = 1 << 20
	maxDataSize  = 1 << 16
)

// prepare makes the instances.
//
// Errors: ERANGE, ENOMEM, EBUSY: see RegisterKretprobe.
func (rp *Kretprobe) prepare() error {
	n := rp.MaxActive
	if n <= 0 {
		n = machine.This.CPUs // not preemptible: spec/4 §1.3.1
	}
	each := uint64(unsafe.Sizeof(KretprobeInstance{}) + rp.DataSize)
	switch flying := rp.pool.inUse(); {
	case n > maxMaxActive:
		return probe.Refuse(syscall.ERANGE, "MaxActive is %d, more than %d", n, maxMaxActive)
	case rp.DataSize > maxDataSize:
		return probe.Refuse(syscall.ERANGE, "DataSize is %d, more than %d", rp.DataSize, maxDataSize)
	case flying != 0:
		return probe.Refuse(syscall.EBUSY, "%d calls from before have not returned", flying)
	case uint64(n)*each > machine.This.Memory/4:
		return probe.Refuse(syscall.ENOMEM, "%d instances of %d bytes need %d MiB, more than a quarter of memory",
			n, each, uint64(n)*each>>20)
	}
	if rp.pool.instances != nil {
		quiesce() // who gives an instance back may not have put it on a list yet
	}
	rp.pool.init(rp, n, machine.This.CPUs, rp.DataSize)
	return nil
}

// What follows runs in trap context as well: instances are taken and given back on
// every call of a probed function, on all CPUs at once.

// pool is the instances of one return probe. Each CPU has a list of free ones
// on a cache line of its own; where that is empty another's is taken from, so
// that none stays unused while one is missed. The head of a list carries a tag,
// so that it can be changed without a lock from any context.
type pool struct {
	lists     []freeList // by CPU
	instances []KretprobeInstance
}

type freeList struct {
	_    [8]uint64     // as in account
	head atomic.Uint64 // tag<<32 | index+1
	_    [7]uint64
}

// init makes n instances of rp with size bytes of data each, spread over cpus
// lists.
//
// Context: goroutine.
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
// Context: any, on CPU id.
func (p *pool) get(id int) *KretprobeInstance {
	l := &p.lists[id]
	old := l.head.Load()
	if i := int(uint32(old)) - 1; i >= 0 && i < len(p.instances) {
		in := &p.instances[i]
		if l.head.CompareAndSwap(old, (old>>32+1)<<32|in.nextFree) {
			in.busy = true
			return in
		}
	}
	return p.find(id)
}

// find is get for when that is not as easy.
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

// put gives an instance back.
//
// Context: any, on CPU id.
func (p *pool) put(in *KretprobeInstance, id int) {
	in.busy = false
	p.lists[id].push(in)
}

// inUse counts the instances that are taken.
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
		in.nextFree = uint64(uint32(old))
		if l.head.CompareAndSwap(old, (old>>32+1)<<32|in.index1) {
			return
		}
	}
}

// For assembly, which finds an instance, and a CPU's list, by its index.
const (
	freeListShift = 7
	instanceShift = 7
)

// This does not compile unless the sizes are what the shifts say.
var (
	_ [0]struct{} = [unsafe.Sizeof(freeList{}) - 1<<freeListShift]struct{}{}
	_ [0]struct{} = [unsafe.Sizeof(KretprobeInstance{}) - 1<<instanceShift]struct{}{}
)
