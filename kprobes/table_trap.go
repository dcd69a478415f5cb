package kprobes

// Trap context. Every breakpoint looks its site up here, without a lock.

import "sync/atomic"

// table finds sites by address: open addressing, a power of two of entries, at
// most half of them used. Writers hold mu; they add in place and rebuild
// it to grow or to remove, and readers see either table.
type table []atomic.Pointer[site]

var sites atomic.Pointer[table]

// hash spreads addresses: Fibonacci hashing.
func hash(addr uintptr) uintptr { return addr * 0x9e3779b97f4a7c15 >> 32 }

// first returns what find looks at first, mostly what it returns. It is small
// enough to be inlined.
//
// Context: any.
func first(addr uintptr) *site {
	p := sites.Load()
	if p == nil {
		return nil
	}
	t := *p
	return t[hash(addr)&uintptr(len(t)-1)].Load()
}

// find returns the site at addr, nil if there is none.
//
// Context: any.
func find(addr uintptr) *site {
	p := sites.Load()
	if p == nil {
		return nil
	}
	t := *p
	mask := uintptr(len(t) - 1)
	for i := hash(addr) & mask; ; i = (i + 1) & mask {
		s := t[i].Load()
		if s == nil || s.addr == addr {
			return s
		}
	}
}
