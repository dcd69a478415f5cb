//go:build tamago

package machine

import (
	"time"

	"sonde/arch/amd64"
	"sonde/arch/amd64/goabi"
	"sonde/arch/amd64/trap"
	"sonde/kallsyms"
	"sonde/kernel/cpu"
	"sonde/kernel/grace"
	"sonde/kernel/mm"
	"sonde/kernel/printk"
	"sonde/kernel/smp"
	"sonde/kernel/text"
	"sonde/kprobes/reach"
)

// slotBytes is the part of mm.Slots that is for slots; detours are after it.
const slotBytes = 1 << 20

// Real returns the one we run on. Drain and Watch, which are about handlers, are for package kprobes
// to fill in.
//
// Context: boot, goroutine.
func Real(guard *reach.Guard) Machine {
	slots, detours := mm.Slots.Start, mm.Slots.Start+slotBytes
	m := Machine{
		Code:    text.Bytes,
		Known:   trap.Known(),
		Poke:    text.Poke,
		Refresh: refresh,
		Swap:    swapStopped,
		Write:   text.WriteSlot,

		Since: func() text.InUse { s := grace.Now(); return &s },
		Grace: func() { grace.Synchronize() },

		Serialize: cpu.Serialize,
		Watched:   trap.Executes,
		InHandler: cpu.InHandler,
		Forbid:    cpu.Forbid,

		CPUs:     cpu.Num(),
		Memory:   mm.Usable,
		Careful:  func(handler any) bool { return careful(guard, goabi.CodeOf(handler)) },
		NoReturn: guard.NoReturn,
		Guard:    guard,

		Slots:   text.NewPool(slots, detours, SlotSize),
		Detours: text.NewPool(detours, mm.Slots.End, DetourSize),
	}
	m.Advise = func(role, probe string, pc uintptr) {
		for _, b := range guard.Mistakes(uint64(pc)) {
			printk.Warn("kprobes: the %s-handler of %s %s, so it may be abandoned: %s", role, probe, b.Rule, reach.Arrows(b.Path))
		}
	}
	m.Blacklisted = func(fn kallsyms.Symbol) string { return m.Blacklist()[fn.Addr] }
	return m
}

// careful is Machine.Careful for the handler at pc. Made code changes general registers alone, and calls
// only what the rules name as its helpers, of which the proof for hits is made, too.
func careful(guard *reach.Guard, pc uintptr) bool {
	if start, _ := text.Made(pc); pc == 0 || start != 0 {
		return false
	}
	return guard.Careful(uint64(pc))
}

// refresh implements Machine.Refresh.
func refresh(poked []uintptr) {
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
