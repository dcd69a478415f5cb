//go:build tamago

package watch

import (
	"sync/atomic"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/kallsyms"
	"sonde/kernel/smp"
	"sonde/ktest/suites"
	"sonde/kwatch"
)

func init() { suites.Add("watch/lock_in_an_interrupt", lockInInterrupt) }

// locked is a word that is watched, and one that interrupts lock, in a page of which they access nothing
// else.
var locked struct {
	_       [4096]byte
	watched uint64
	lock    uint64
	_       [4096]byte
}

// lockInInterrupt: each change of what is watched is a hit, and interrupts that take a lock beside it
// are none.
func lockInInterrupt(t *suites.T) {
	var changes, same atomic.Int64
	var where atomic.Uint64
	reg := on(t, uintptr(unsafe.Pointer(&locked.watched)), 8, kwatch.Write, func(h *kwatch.Hit, _ *amd64.Regs) {
		if h.Old == h.New {
			same.Add(1)
			where.Store(uint64(h.IP))
		} else {
			changes.Add(1)
		}
	})
	defer off(t, reg)
	var done atomic.Bool
	t.Go(func() {
		for !done.Load() {
			smp.CallAll(func() { atomic.CompareAndSwapUint64(&locked.lock, 0, 0) })
		}
	})
	rounds := int64(suites.Rounds(20_000, 1_000_000))
	for i := range rounds {
		atomic.StoreUint64(&locked.watched, uint64(i)+1)
	}
	done.Store(true)
	t.Wait()
	if changes.Load() != rounds || same.Load() != 0 {
		t.Errorf("%d changes made %d hits, and %d without a change, the last before %s",
			rounds, changes.Load(), same.Load(), kallsyms.Where(where.Load()))
	}
}
