//go:build tamago

// Package watch tests kwatch: what a watchpoint sees and reports, on all CPUs, together
// with probes, in NMIs and in handlers.
package watch

import (
	"sync/atomic"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/ktest/suites"
	"sonde/kwatch"
)

// What the code in code_amd64.s accesses.
var (
	word   uint64
	target uintptr
)

func incWord()
func readWord()
func jumpWord()
func incDeep()
func pair()
func addresses() (inc, read, jump, arriveAt, pairAt uintptr)

var incAt, readAt, jumpAt, arriveAt, pairAt = addresses()

func init() { target = arriveAt }

func wordAt() uintptr   { return uintptr(unsafe.Pointer(&word)) }
func targetAt() uintptr { return uintptr(unsafe.Pointer(&target)) }

// code is the byte of code at addr. Safe because: text is mapped for good.
func code(addr uintptr) *byte { return *(**byte)(unsafe.Pointer(&addr)) }

// seen is what handlers are called with. It is written in traps.
type seen struct {
	n    atomic.Int64
	bad  atomic.Int64 // hits that are not as hit wants
	hits [1024]kwatch.Hit
	want func(h *kwatch.Hit, r *amd64.Regs) bool
}

func (s *seen) hit(h *kwatch.Hit, r *amd64.Regs) {
	if s.want != nil && !s.want(h, r) {
		s.bad.Add(1)
	}
	if n := s.n.Add(1); n <= int64(len(s.hits)) {
		s.hits[n-1] = *h
	}
}

// on registers a watchpoint and returns its register.
func on(t *suites.T, addr uintptr, length int, typ kwatch.Type, h kwatch.Handler) int {
	n, err := kwatch.RegisterKwatch(addr, length, typ, h)
	t.Must(err)
	return n
}

// off unregisters it. Its ledger must have no gaps.
func off(t *suites.T, n int) (l kwatch.Info) {
	for _, i := range kwatch.All() {
		if i.DebugReg == n {
			l = i
		}
	}
	t.Must(kwatch.UnregisterKwatch(n))
	if u := l.Ledger.Unexplained(); u != 0 {
		t.Errorf("%d hits unexplained: %+v", u, l.Ledger)
	}
	return l
}
