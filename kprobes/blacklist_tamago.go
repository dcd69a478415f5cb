//go:build tamago

package kprobes

import (
	"strings"
	"sync"

	"sonde/arch/amd64/insn"
	"sonde/kallsyms"
	"sonde/kernel/text"
)

// A breakpoint in the code that handles breakpoints would never end. What that
// code is, is not kept by hand but computed: all that a hit may run before the
// recursion check can tell, that is, all that can be reached by direct calls
// from the trap entry, less what only runs when a trap is reported or when a
// handler runs already.

// roots are where a trap enters, as prefixes of symbols; what they call is
// blacklisted too.
var roots = []string{
	"sonde/arch/amd64/trap.",
	"sonde/kprobes.on", "sonde/kprobes.(*site).reenter", "sonde/kprobes.(*site).passBy", "sonde/kprobes.(*site).endStep",
	"sonde/kernel/notifier.(*Chain).Walk",
	"sonde/kernel/die.exception", "sonde/kernel/die.Breakpoint", "sonde/kernel/die.Debug", "sonde/kernel/die.nmi",
}

// own are functions that may not be probed whatever they call: the probes' own
// (spec/4 §5), and switches of context and stack. Prefixes.
var own = []string{
	"sonde/kprobes.", "sonde/kernel/text.", "sonde/kernel/smp.", "main.early",
	"runtime.sonde", "runtime.Sonde", "sonde/kernel/goruntime.", "runtime.gogo", "runtime.mcall", "runtime.systemstack", "runtime.rt0_go", "_rt0_",
}

// cold are functions that the roots reach only to report something, or once a
// handler runs; what they call can be probed. Prefixes.
var cold = []string{
	"sonde/kernel/printk.", "sonde/kallsyms.",
	"sonde/kernel/die.Fatal", "sonde/kernel/die.strayBreakpoint", "sonde/kernel/die.Symbol",
	"sonde/kernel/die.panics", "sonde/kernel/die.dump", "sonde/kernel/die.Refault", "sonde/kernel/die.Backtrace",
	"sonde/kprobes.(*Jprobe)", "sonde/kprobes.kill", "sonde/kprobes.symbolOf", "sonde/kprobes.refault", "sonde/kprobes.bug",
	"runtime.morestack", "runtime.panic", "runtime.goPanic", "runtime.throw", "runtime.fatal",
	"runtime.newobject", "runtime.mallocgc", "runtime.gcWriteBarrier", "runtime.wbZero", "runtime.typedmemmove",
}

// noKprobe are the functions marked with NoKprobe, by name.
var noKprobe = map[string]bool{}

// NoKprobe marks a function as one that may not be probed, as Linux's
// NOKPROBE_SYMBOL does. Write it next to the function:
//
//	var _ = kprobes.NoKprobe("sonde/kernel/foo.bar")
//
// Context: package initialization.
func NoKprobe(name string) bool {
	noKprobe[name] = true
	return true
}

var blacklist = sync.OnceValue(computeBlacklist)

// blacklisted returns why fn may not be probed, "" if it may.
func blacklisted(fn kallsyms.Symbol) string { return blacklist()[fn.Addr] }

// Blacklisted returns every function that may not be probed with the reason.
//
// Context: goroutine.
func Blacklisted() map[uint64]string { return blacklist() }

func computeBlacklist() map[uint64]string {
	t := kallsyms.Kernel()
	black := map[uint64]string{}
	var todo []kallsyms.Symbol
	for s := range t.Text {
		switch {
		case noKprobe[s.Name]:
			black[s.Addr] = "it is marked NoKprobe"
		case hasPrefix(s.Name, roots):
			black[s.Addr] = "it handles traps"
			todo = append(todo, s)
		case hasPrefix(s.Name, own):
			black[s.Addr] = "it implements probes or switches contexts"
		}
	}
	for len(todo) > 0 {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, to := range callees(s) {
			fn, ok := t.At(to)
			if !ok || !fn.IsText() || hasPrefix(fn.Name, cold) || strings.HasPrefix(black[fn.Addr], "the handling") || hasPrefix(fn.Name, roots) {
				continue
			}
			black[fn.Addr] = "the handling of traps calls it"
			todo = append(todo, fn)
		}
	}
	return black
}

// callees returns where direct calls and jumps of s lead.
func callees(s kallsyms.Symbol) (to []uint64) {
	code := text.Bytes(uintptr(s.Addr), uintptr(s.Size))
	insn.Walk(code, func(off int, in insn.Inst) bool {
		if in.Flow == insn.Call || in.Flow == insn.Jmp || in.Flow == insn.Jcc {
			to = append(to, in.Target(s.Addr+uint64(off)))
		}
		return true
	})
	return to
}

func hasPrefix(name string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}
