//go:build tamago

package smp

import (
	"slices"
	"sync"

	"sonde/kernel/irq"
)

// periods are those that TickEvery was asked for and that have not ended.
var periods struct {
	sync.Mutex
	all []int64 // ns
}

// TickEvery makes all CPUs take a timer interrupt at least every ns nanoseconds until stop is called. Of
// several requests, the shortest counts.
func TickEvery(ns int64) (stop func()) {
	periods.Lock()
	defer periods.Unlock()
	periods.all = append(periods.all, ns)
	apply()
	return sync.OnceFunc(func() {
		periods.Lock()
		defer periods.Unlock()
		i := slices.Index(periods.all, ns)
		periods.all = slices.Delete(periods.all, i, i+1)
		apply()
	})
}

// apply tells the CPUs. With periods locked.
func apply() {
	least := int64(0)
	if len(periods.all) > 0 {
		least = slices.Min(periods.all)
	}
	CallAll(func() { irq.TickEvery(least) })
}
