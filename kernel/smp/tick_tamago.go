//go:build tamago

package smp

import (
	"slices"
	"sync"
	"sync/atomic"

	"sonde/kernel/irq"
)

// periods are those that TickEvery was asked for and that have not ended.
var periods struct {
	sync.Mutex
	all []int64 // ns
}

// least is the shortest of periods; 0: there is none.
var least atomic.Int64

// TickEvery makes all CPUs take a timer interrupt at least every ns nanoseconds until stop is called. Of
// several requests, the shortest counts.
func TickEvery(ns int64) (stop func()) {
	AddPeriod(ns)
	CallAll(UsePeriods)
	return sync.OnceFunc(func() {
		DropPeriod(ns)
		CallAll(UsePeriods)
	})
}

// AddPeriod is the beginning of TickEvery: each CPU has to call UsePeriods.
func AddPeriod(ns int64) {
	periods.Lock()
	defer periods.Unlock()
	periods.all = append(periods.all, ns)
	least.Store(slices.Min(periods.all))
}

// DropPeriod ends what AddPeriod began: each CPU has to call UsePeriods.
func DropPeriod(ns int64) {
	periods.Lock()
	defer periods.Unlock()
	i := slices.Index(periods.all, ns)
	periods.all = slices.Delete(periods.all, i, i+1)
	least.Store(0)
	if len(periods.all) > 0 {
		least.Store(slices.Min(periods.all))
	}
}

// UsePeriods makes this CPU take as many timer interrupts as are asked for.
//
// Context: interrupts off.
func UsePeriods() { irq.TickEvery(least.Load()) }
