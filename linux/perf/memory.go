package perf

import (
	"errors"
	"sync"
	"syscall"

	"sonde/kernel/mm/backing"
	"sonde/kernel/refusal"
	"sonde/probe/program"
)

const pageSize = 4096

// memory is what programs map of an event: a page about it, and those of its ring.
//
// Locks: mu is a leaf. An address space holds its own meanwhile.
type memory struct {
	mu    sync.Mutex
	pages *mapping // guarded by mu; nil: nothing is mapped
}

// mapping is the pages as one or more programs have mapped them. They stay until the last has unmapped them, and
// are held from the beginning: another thread may unmap them, or close the event, before they are in a space.
// It implements backing.Store.
type mapping struct {
	program.Pages
	event *Event
	write bool
	holds int // guarded by memory.mu
}

// Map implements vfs.Mapped.
//
// Errors: EINVAL the mapping is private, does not begin at 0, or is not a page and a power of two of pages; the
// event is mapped already in another way; ENOMEM.
func (e *Event) Map(off, n uint64, shared, write bool) (backing.Store, bool, error) {
	defer e.listen()
	n = (n + pageSize - 1) &^ (pageSize - 1)
	data := n/pageSize - 1
	if !shared || off != 0 || n < 2*pageSize || data&(data-1) != 0 || n > mostMapped {
		return nil, false, refusal.New(syscall.EINVAL, "perf: map a page and a power of two of pages, shared, from 0 on: not %d bytes from %d on", n, off)
	}
	m := &e.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	if p := m.pages; p != nil {
		if uint64(len(p.Mem)) != n || p.write != write {
			return nil, false, refusal.New(syscall.EINVAL, "perf: the event is mapped with %d bytes", len(p.Mem))
		}
		p.holds++
		return p, write, nil
	}
	mem, err := newPages(int(n))
	if err != nil {
		return nil, false, err
	}
	err = e.own.SetMemory(mem, !write)
	if errors.Is(err, syscall.EBUSY) { // the last record that goes to what was mapped before
		awaitCalls()
		err = e.own.SetMemory(mem, !write)
	}
	if err != nil {
		program.FreePages(mem)
		return nil, false, err
	}
	m.pages = &mapping{event: e, write: write, holds: 1}
	m.pages.Mem, m.pages.Name, m.pages.Inode = mem, "anon_inode:[perf_event]", e.Stat().Ino
	e.ring.CompareAndSwap(nil, &e.own)
	return m.pages, write, nil
}

// mostMapped bounds what an event has in memory.
const mostMapped = 64 << 20

func (p *mapping) Hold() {
	p.event.memory.mu.Lock()
	defer p.event.memory.mu.Unlock()
	p.holds++
}

func (p *mapping) Drop() {
	defer p.event.listen()
	m := &p.event.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	if p.holds--; p.holds == 0 {
		m.free()
	}
}

// newPages is program.NewPages, which gets what is about to be freed if there is no other memory.
func newPages(n int) ([]byte, error) {
	mem, err := program.NewPages(n)
	if err != nil {
		awaitCalls()
		mem, err = program.NewPages(n)
	}
	return mem, err
}

// free has the pages freed when no CPU writes a sample any more. Nothing waits for that: an address space is in
// use. Called with mu held.
func (m *memory) free() {
	p := m.pages
	m.pages = nil
	p.event.ring.CompareAndSwap(&p.event.own, nil)
	p.event.own.SetMemory(nil, false)
	later(func() { program.FreePages(p.Mem) })
}
