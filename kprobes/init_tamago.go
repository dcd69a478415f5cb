//go:build tamago

package kprobes

import (
	"sonde/arch/amd64"
	"sonde/arch/amd64/prologue"
	"sonde/arch/amd64/trap"
	"sonde/kallsyms"
	"sonde/kernel/die"
	"sonde/kernel/goruntime"
	"sonde/kernel/kthread"
	"sonde/kernel/notifier"
	"sonde/kernel/printk"
	"sonde/kprobes/machine"
	"sonde/kprobes/reach"
)

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
	machine.This = machine.Real(reach.NewGuard(reach.New(kallsyms.Kernel(), func(addr, n uint64) []byte {
		return original(uintptr(addr), uintptr(n))
	}), noKprobe))
	machine.This.Quiesce, machine.This.Watch = quiesceHits, keepWatch
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
	if err := machine.This.Guard.Graph().HitKeepsSSE(); err != nil {
		printk.Warn("kprobes: hits save all SSE registers: %s", err.Error())
		return
	}
	lean = true
	trap.LazyXMM()
}

// The limit that stack checks read is where package prologue, which knows their code,
// expects it. Otherwise this does not compile.
var _ [0]struct{} = [goruntime.GStackGuard - prologue.GuardOffset]struct{}{}
