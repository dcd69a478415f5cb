//go:build tamago

package kprobes

import (
	"time"

	"sonde/arch/amd64"
	"sonde/kernel/cpu"
	"sonde/kernel/grace"
	"sonde/kernel/mm"
	"sonde/kernel/smp"
	"sonde/kernel/text"
)

// slotBytes is the part of mm.Slots that is for slots; detours are behind it.
const slotBytes = 1 << 20

// realMachine is the one we run on.
func realMachine() machine {
	slots, detours := mm.Slots.Start, mm.Slots.Start+slotBytes
	return machine{
		code:  text.Bytes,
		poke:  text.Poke,
		sync:  syncPoked,
		swap:  swapStopped,
		write: text.WriteSlot,
		bind:  bind,

		quiesce: quiesceHits,
		since:   func() text.InUse { s := grace.Now(); return &s },
		grace:   func() { grace.Synchronize() },
		watch:   keepWatch,

		inHandler: cpu.InHandler,
		forbid:    cpu.Forbid,

		cpus:        cpu.Num(),
		memory:      mm.Usable,
		blacklisted: blacklisted,
		writesSSE:   writesSSE,
		noReturn:    noReturnProbe,

		slots:   text.NewPool(slots, detours, slotSize),
		detours: text.NewPool(detours, mm.Slots.End, DetourSize),
	}
}

// syncPoked has all CPUs execute what was poked. What is written again is for
// QEMU's sake, see text.Refresh; quiesce makes them serialize once more.
func syncPoked(poked []uintptr) {
	if cpu.Num() == 1 {
		return
	}
	text.Sync()
	for _, addr := range poked {
		text.Refresh(addr)
	}
}

// swapStopped writes patches while the machine stands still.
func swapStopped(patches []text.Patch, standing func(ip uintptr) bool) (time.Duration, error) {
	batch := text.Batch{Patches: patches}
	return smp.StopMachine(func(held []*amd64.Regs) error {
		for _, r := range held {
			if r != nil && standing(uintptr(r.IP)) {
				return ErrRetry
			}
		}
		return batch.Commit()
	})
}
