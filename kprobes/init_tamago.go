//go:build tamago

package kprobes

import (
	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kernel/die"
	"sonde/kernel/goruntime"
	"sonde/kernel/kthread"
	"sonde/kernel/notifier"
	"sonde/kernel/printk"
)

// chain returns this package's place in the notifier chain of vector v. Of NMIs it is
// the last: the watch takes all that nobody else wants.
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
