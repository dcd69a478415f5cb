//go:build tamago

package kprobes

import (
	"time"

	"sonde/arch/amd64"
	"sonde/arch/amd64/prologue"
	"sonde/arch/amd64/trap"
	"sonde/kallsyms"
	"sonde/kernel/cpu"
	"sonde/kernel/die"
	"sonde/kernel/goruntime"
	"sonde/kernel/grace"
	"sonde/kernel/kthread"
	"sonde/kernel/mm"
	"sonde/kernel/notifier"
	"sonde/kernel/printk"
	"sonde/kernel/smp"
	"sonde/kernel/text"
	"sonde/kprobes/reach"
)

// slotBytes is the part of mm.Slots that is for slots; detours are behind it.
const slotBytes = 1 << 20

// realMachine is the one we run on.
func realMachine() machine {
	slots, detours := mm.Slots.Start, mm.Slots.Start+slotBytes
	guard := reach.NewGuard(reach.New(kallsyms.Kernel(), func(addr, n uint64) []byte {
		return original(uintptr(addr), uintptr(n))
	}), noKprobe)
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
		blacklisted: func(fn symbol) string { return Blacklisted()[fn.Addr] },
		writesSSE:   func(handler any) bool { pc := codeOf(handler); return pc != 0 && guard.WritesSSE(uint64(pc)) },
		noReturn:    guard.NoReturn,
		guard:       guard,

		slots:   text.NewPool(slots, detours, slotSize),
		detours: text.NewPool(detours, mm.Slots.End, DetourSize),
	}
}

// syncPoked makes all CPUs execute what was poked. What is written again is for
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

// chain returns this package's place in the notifier chain of vector v. Of NMIs it is
// the last: the watch takes all that no other block wants.
func chain(v int) *notifier.Block {
	if v == amd64.VEC_NMI {
		return &notifier.Block{Name: "kprobes", Priority: -100, Call: onNMI}
	}
	return &notifier.Block{Name: "kprobes", Priority: 100, Call: onFault}
}

// Init takes this package's places: #BP and #DB before the notifier chain, as on
// Linux today, because each link of it would be a tenth of a hit; the other
// exceptions in the chain; returns and detours; handlers that break the rules.
//
// Context: boot, goroutine.
func Init() {
	mach = realMachine()
	goLean()
	trap.SetHandler(amd64.VEC_BP, onBreakpoint)
	trap.SetHandler(amd64.VEC_DB, onStep)
	trap.SetProbes(initState)
	trap.SetHandler(vecAbandon, onAbandon)
	goruntime.ReplaceReturns(trampolinePC, onDead)
	initDetours()
	for v := range notifier.Die {
		if v != amd64.VEC_BP && v != amd64.VEC_DB {
			notifier.Die[v].Register(chain(v))
		}
	}
	die.SetOriginal(OriginalIP)
	printk.SetTask(task)
	kthread.Run("kprobe_disarm", func() {
		for disarmer.Wait(-1) {
			mu.Lock()
			rearm(allSites())
			mu.Unlock()
		}
	})
}

// goLean has the trap layer leave X0-X14 to us, if our own way through a hit
// leaves them alone. Should the compiler ever make it otherwise, every trap
// saves them, and says so.
func goLean() {
	if err := mach.guard.Graph().HitKeepsSSE(); err != nil {
		printk.Warn("kprobes: hits save all SSE registers: %s", err.Error())
		return
	}
	lean = true
	trap.LazyXMM()
}

// The limit that stack checks read is where package prologue, which knows their code,
// expects it. Otherwise this does not compile.
var _ [0]struct{} = [goruntime.GStackGuard - prologue.GuardOffset]struct{}{}
