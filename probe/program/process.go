package program

import (
	"slices"
	"sync/atomic"
	"syscall"
	"unsafe"

	"sonde/bpf"
	"sonde/kernel/refusal"
	"sonde/probe/attach"
	"sonde/probe/ring"
)

// What processes do with objects: they hold them by descriptors.

// Hold keeps an object until Release.
//
// Errors: EBADF it is gone already.
func Hold(o Object) error { return o.keep(1) }

// Release ends a Hold. The last one frees an object that its owner has closed.
//
// Context: goroutine, not a handler.
func Release(o Object) { o.keep(-1) }

// Change begins a change of the map by the kernel's own tools. Until end is called, nothing freezes it.
//
// Errors: EPERM the process that has made it has frozen it.
func (m *Map) Change() (end func(), err error) {
	if e, ok := m.Extra.(interface {
		Change(m *Map) (end func(), err error)
	}); ok {
		return e.Change(m)
	}
	return func() {}, nil
}

// sharing reports whether the program's ring buffers are those of processes.
func (p *Prog) sharing() bool {
	return slices.ContainsFunc(p.maps, func(m *Map) bool { return m.hasRings() && m.owned })
}

// hasRings reports whether programs find ring buffers by the map: it is one, or has some in it, which are those of
// processes as it is (Put).
func (m *Map) hasRings() bool {
	return m.is(bpf.RingBuf) || m.Spec.Inner != nil && m.Spec.Inner.Type == bpf.RingBuf
}

// Shared is the records of a ring buffer that a process has made; nil: the map is another kind.
func (m *Map) Shared() *ring.Shared { return m.shared }

// SetPerf has programs that put out data at an index of a perf event array write it to a ring; nil: they get
// ENOENT. The ring stays until a grace period after it was replaced.
//
// Errors: EINVAL no process has made the map, or it is another kind; E2BIG there is no such index; ENOENT
// there is nothing that could be taken away.
//
// Context: goroutine; it waits for a grace period if something was there.
func (m *Map) SetPerf(at uint32, p *ring.Perf) error {
	if !m.owned || !m.is(bpf.PerfEventArray) {
		return refusal.New(syscall.EINVAL, "map %s has no perf events", m.Spec.Name)
	}
	if at >= m.Spec.MaxEntries {
		return refusal.New(syscall.E2BIG, "map %s: there is no index %d", m.Spec.Name, at)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	old := m.perfs[at]
	if p == nil && old == nil {
		return refusal.New(syscall.ENOENT, "map %s: there is nothing at %d", m.Spec.Name, at)
	}
	// Safe because: perfs has the pointer, too, as long as programs may use it.
	(*atomic.Uint64)(unsafe.Add(m.base, uintptr(at)*wordSize)).Store(uint64(uintptr(unsafe.Pointer(p))))
	if old != nil {
		synchronize()
	}
	if m.perfs == nil {
		m.perfs = map[uint32]*ring.Perf{}
	}
	if m.perfs[at] = p; p == nil {
		delete(m.perfs, at)
	}
	return nil
}

// Perf returns the ring at an index of a perf event array; nil: there is none.
func (m *Map) Perf(at uint32) *ring.Perf {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.perfs[at]
}

// Mapping returns the memory that processes can map: of an array, or of a ring buffer that a process has made.
// The caller holds the map until Gone is called.
func (m *Map) Mapping() *Pages {
	p := &Pages{Mem: m.memory, Name: "anon_inode:bpf-map", Inode: uint64(m.ID)}
	if m.shared != nil {
		p.Once = ring.SharedPages / pageSize
	}
	return p
}

// tell tells the Extra of an object that it has been freed.
func tell(extra any) {
	if e, ok := extra.(interface{ Gone() }); ok {
		e.Gone()
	}
}

// Self returns the goroutine that calls it.
func Self() uint64 { return self() }

// Goid returns the goroutine that was hit in the kernel.
//
// Context: the handler, of a hit that may not block.
func Goid(hit *attach.Hit) uint64 { return goid(hit, 0) }

// Whose returns for which process and thread the code runs that was hit on a CPU; 0, 0: none.
//
// Context: the handler.
func Whose(hit *attach.Hit, cpu int) (pid, tid int) {
	pid, tid, _ = process(hit, cpu)
	return pid, tid
}
