package reach

import (
	"slices"
	"strings"
)

// The rules name what cannot be read from the code. Each name must fit a symbol of the
// image: see Check.

// trapEntries are where a hit or another trap begins: at the stubs of the IDT, the gates for
// measuring, the return from a handler that was abandoned, the jump of an optimized probe, and
// the return of a probed function.
var trapEntries = names{
	"sonde/arch/amd64/trap.entry", "sonde/arch/amd64/trap.entryNMI", "sonde/arch/amd64/trap.entryFault",
	"sonde/arch/amd64/trap.entryBP", "sonde/arch/amd64/trap.known", "sonde/arch/amd64/trap.entryDB",
	"sonde/arch/amd64/trap.entryDebug", "sonde/arch/amd64/trap.entryWatch", "sonde/arch/amd64/trap.entryWatchReal",
	"sonde/arch/amd64/trap.bareReturn", "sonde/arch/amd64/trap.bareSetTF", "sonde/arch/amd64/trap.bareClearTF", "sonde/arch/amd64/trap.bareSetRF",
	"sonde/arch/amd64/trap.unwind", "sonde/arch/amd64/user.fromSyscall", "sonde/arch/amd64/user.abandoned",
	"sonde/kprobes.detour", "sonde/kprobes.note", "sonde/kprobes.plain", "sonde/kprobes.late", "sonde/kprobes.trampoline",
}

// programHelpers are the functions that the code of eBPF programs calls. That is not in the image, so
// only this name leads to them.
const programHelpers = "sonde/probe/program.help*"

// indirect lists what the indirect calls of functions that a trap reaches lead to. Handlers of probes
// are left out, since the kernel recognizes a hit inside a handler.
var indirect = []struct {
	caller string
	calls  names
	why    string
}{
	{
		"sonde/arch/amd64/trap.save",
		names{
			"sonde/kprobes.onStep", "sonde/probe/handler.onAbandon",
			"sonde/kernel/die.exception", "sonde/kernel/die.Breakpoint", "sonde/kernel/die.Debug", "sonde/arch/amd64/trap.takeNMI",
			"sonde/arch/amd64/trap.anyBreakpoint", "sonde/arch/amd64/trap.takeDebug",
		},
		"the vector's handler; those of interrupts are not listed: no interrupt comes in the middle of a hit",
	},
	{"sonde/arch/amd64/trap.entryBP", names{"sonde/arch/amd64/trap.known", "sonde/arch/amd64/user.fromBreak"}, "an Int3's Code: other code than this calls nothing; a breakpoint of ring 3"},
	{"sonde/arch/amd64/user.fromBreak", names{"sonde/arch/amd64/user.known"}, "a Break's Code: other code than this calls nothing"},
	{"sonde/arch/amd64/trap.known", breakpointHandlers, "the handler of #BP"},
	{"sonde/arch/amd64/trap.anyBreakpoint", breakpointHandlers, "the handler of #BP"},
	{"sonde/arch/amd64/trap.takeBreakpoint", names{"sonde/kprobes.onBreakpoint"}, "the handler of #BP while nothing is watched"},
	{"sonde/arch/amd64/trap.entryDB", names{"sonde/kprobes.onStep", "sonde/arch/amd64/trap.takeDebug", "sonde/arch/amd64/user.fromTrap"}, "the vector's handler"},
	{"sonde/arch/amd64/trap.entryWatch", names{"sonde/kprobes.onStep", "sonde/arch/amd64/trap.takeDebug", "sonde/arch/amd64/user.fromTrap"}, "the vector's handler"},
	{"sonde/arch/amd64/trap.entryWatchReal", names{"sonde/kprobes.onStep", "sonde/arch/amd64/trap.takeDebug", "sonde/arch/amd64/user.fromTrap"}, "the vector's handler"},
	{"sonde/arch/amd64/trap.takeDebug", names{"sonde/kwatch.onHit"}, "the handler of watchpoints"},
	{"sonde/arch/amd64/trap.Stepped", names{"sonde/kprobes.onStep"}, "the handler of steps"},
	{"sonde/kwatch.(*state).take", nil, "a watchpoint's handler"},
	{"sonde/kwatch.(*point).callCareful", names{"sonde/kprobes.WatchMoved"}, "a watchpoint's handler, and what boot passes to kwatch.Init"},
	{"sonde/kernel/stack.OriginalIP", names{"sonde/kprobes.OriginalIP"}, "what kprobes passes to stack.SetOriginal"},
	{"sonde/arch/amd64/trap.entry", names{"sonde/arch/amd64/user.fromTrap"}, "a trap from ring 3"},
	{"sonde/arch/amd64/user.leave", names{"sonde/arch/amd64/trap.entry"}, "an interrupt, as if it came from ring 0"},
	{"sonde/arch/amd64/user.answer", nil, "a short system call, which is code like any other"},
	{"sonde/arch/amd64/trap.takeNMI", names{"sonde/kernel/die.nmi"}, "what die passes to trap.SetNMI"},
	{"sonde/arch/amd64/trap.unwind", names{"sonde/kprobes.afterAbandon", "sonde/kwatch.afterAbandon"}, "what is passed to trap.Divert"},
	{"sonde/kernel/notifier.(*Chain).Walk", names{"sonde/kprobes.onFault", "sonde/probe/handler.onFault", "sonde/probe/handler.onNMI", "sonde/uprobes.onFault", "sonde/linux/usermode.onFault"}, "the chain's blocks"},
	{"sonde/arch/amd64/user.known", names{"sonde/uprobes.onBreak"}, "a breakpoint of a program"},
	{"sonde/arch/amd64/user.hit", names{"sonde/uprobes.onHit"}, "another hit of a program"},
	{"sonde/arch/amd64/user.abandoned", names{"sonde/uprobes.onAbandoned"}, "the rest of such a hit"},
	{"sonde/uprobes.(*thread).*", programMemory, "what boot passes to uprobes.Init"},
	{"sonde/uprobes.enters[*", programMemory, "the same"},
	{"sonde/uprobes.entersGo[*", programMemory, "the same"},
	{"sonde/uprobes.callHandlers[*", programVectors, "a user probe's handler"},
	{"sonde/uprobes.callReturns[*", programVectors, "a return handler"},
	{"sonde/uprobes.wanted[*", programVectors, "an entry handler"},
	{"sonde/uprobes.callGoReturns[*", programVectors, "a return handler"},
	{"sonde/kprobes.detour", softTrap, "a soft trap; a kprobe's handler"},
	{"sonde/kprobes.late", softTrap, "a soft trap"},
	{"sonde/kprobes.plain", softTrap, "a soft trap"},
	{"sonde/kprobes.trampoline", softReturn, "a soft trap; a return handler"},
	{"sonde/kprobes.onBreakpoint", nil, "a kprobe's handler"},
	{"sonde/kprobes.onStep", nil, "a post-handler"},
	{"sonde/kprobes.onReturn", nil, "a return handler"},
	{"sonde/kprobes.(*Kprobe).callSpecial", nil, "a kprobe's handler"},
	{"sonde/kprobes.(*Kprobe).callPost", nil, "a post-handler"},
	{"sonde/kprobes.(*Kretprobe).callCareful", nil, "a return handler"},
	{"sonde/kprobes.(*Kretprobe).declines", nil, "an entry handler"},
	{"sonde/kprobes.(*Camera).call", nil, "a kprobe's handler"},
	{"sonde/kprobes.(*point).fixedUp", nil, "a fault-handler"},
	{"sonde/kprobes.(*state).handlerFault", nil, "a fault-handler"},
	{"sonde/kprobes.OriginalIP", names{"sonde/optprobe.(*plan).original*"}, "the original of an IP in a detour"},
	{"sonde/kprobes.toOriginal", names{"sonde/optprobe.(*plan).depth*"}, "whether a detour has pushed a return address"},
	{"sonde/probe/program.helpMeter", nil, "the program, whose handler it is"},
	{"sonde/probe/program.process", names{"sonde/linux/proc.Identify"}, "what boot passes to program.SetProcesses"},
	{"sonde/probe/program.userRegs", names{"sonde/linux/proc.Registers"}, "what boot passes to program.SetProcesses"},
	{"sonde/probe/program.signal", names{"sonde/linux/proc.Signal"}, "what boot passes to program.SetProcesses"},
	{"sonde/probe/program.helpLoop", nil, "a program's function"},
	{"sonde/probe/program.helpEach", nil, "a program's function"},
	{"sonde/probe/program.(*Map).eachEntry", nil, "a program's function"},
	{"sonde/probe/program.peek", names{"sonde/linux/proc.Peek"}, "what boot passes to program.SetProcesses"},
	{"runtime.sondeSyscall", names{"runtime.sondeDispatch"}, "the system call"},
}

// breakpointHandlers take #BP: the second one while something is watched.
var breakpointHandlers = names{"sonde/kprobes.onBreakpoint", "sonde/arch/amd64/trap.takeBreakpoint"}

// programMemory is how hits access the memory of the program that was hit.
var programMemory = names{"sonde/arch/amd64/user.LoadWord", "sonde/arch/amd64/user.LoadPair", "sonde/arch/amd64/user.SwapWord"}

// programVectors is what saves X0-X14 for a handler. Boot passes it to uprobes.Init, too.
var programVectors = names{"sonde/arch/amd64/user.SaveVectors"}

// softTrap is what a jump to a detour leads to, softReturn what a return does.
var (
	softTrap   = names{"sonde/arch/amd64/trap.choose", "sonde/arch/amd64/trap.loadXMM", "sonde/arch/amd64/trap.restore", "sonde/kprobes.callOthers", "sonde/kprobes.onDetour*", "sonde/kprobes.onNote*"}
	softReturn = names{"sonde/arch/amd64/trap.choose", "sonde/arch/amd64/trap.loadXMM", "sonde/arch/amd64/trap.restore", "sonde/kprobes.onReturn*"}
)

// cold are functions that a trap calls only to report something, when a hit in them is already known
// to be nested. Those of optprobe are called when a fault or a watchpoint is examined, where a hit is
// like any other. What cold functions call can be probed.
var cold = names{
	"sonde/kprobes.(*Kprobe).tookOver", "sonde/kprobes.blame",
	"sonde/kernel/printk.*",
	"sonde/kernel/die.Fatal", "sonde/kernel/die.strayBreakpoint", "sonde/kernel/die.Symbol", "sonde/kernel/die.panics",
	"sonde/kprobes.(*Jprobe).mirror", "sonde/kprobes.(*Camera).mirror", "sonde/probe/handler.(*Kind).Kill", "sonde/probe/handler.watch", "sonde/kprobes.refault", "sonde/kprobes.bug",
	"sonde/kernel/cpu.HaltForever",
	"sonde/optprobe.(*plan).original*", "sonde/optprobe.(*plan).depth*",
	"runtime.morestack*", "runtime.panic*",
}

// keptOut are functions that may not be probed, whether or not a trap reaches them.
var keptOut = []struct {
	names names
	why   string
}{
	{names{"sonde/kprobes.*", "sonde/kprobes/link.*", "sonde/kprobes/detour.*", "sonde/kprobes/machine.*", "sonde/kprobes/place.*", "sonde/probe/glass.*", "sonde/kernel/tape.*"}, "it implements probes"}, // kprobes.txt §1.5
	{names{"sonde/arch/amd64/user.enter", "sonde/arch/amd64/user.byIret", "sonde/arch/amd64/user.msr*"}, "it enters or leaves ring 3"},
	{names{"sonde/arch/amd64/trap.enter"}, "it switches to the stack of traps"},
	{names{"runtime.clone"}, "a new thread begins in it on a stack that is in use"},
}

// regions are code that may not be probed: whatever the entries lead to within the given packages.
// What they call in other packages is called by all code, and can be probed.
var regions = []struct {
	entries, within names
	why             string
}{
	{
		names{
			"sonde/kernel/text.(*Batch).Commit", "sonde/kernel/smp.stopOthers", "sonde/kernel/smp.hold",
		},
		names{"sonde/kernel/text.*", "sonde/kernel/smp.*"},
		"code is changed while CPUs are in it",
	},
	{names{programHelpers}, names{"sonde/probe/program.*"}, "programs call it"},
	{ // boot/overlay, sonde_shim.go: a handler abandoned there would leave its lock behind
		names{
			"runtime.sondeSyscall", "runtime.SondeTick", "runtime.SondeTickEvery", "runtime.SondeWake", "runtime.sondeSchedule",
		},
		names{"runtime.sonde*", "runtime.Sonde*"},
		"threads are switched in it",
	},
}

// hits are what handles hits, for the proof that it leaves X0-X14 alone.
var hits = names{
	"sonde/kprobes.onBreakpoint", "sonde/kprobes.onStep", "sonde/kprobes.onReturn", "sonde/kprobes.callOthers", "sonde/kprobes.onDetour", "sonde/kprobes.onNote",
	"sonde/arch/amd64/trap.takeBreakpoint", "sonde/arch/amd64/trap.takeDebug", "sonde/uprobes.onBreak", "sonde/uprobes.onHit", "sonde/uprobes.onAbandoned",
	programHelpers,
}

// saved are functions on the way of a hit that are only called when X0-X14 have
// been saved.
var saved = names{
	"sonde/arch/amd64/trap.saveLate", "sonde/arch/amd64/trap.saveXMM", "sonde/arch/amd64/user.takeMXCSR",
	"sonde/kernel/die.Breakpoint", "sonde/kernel/die.Debug", "sonde/kprobes.(*Jprobe).mirror",
	"sonde/kprobes.bug", "sonde/kprobes.(*Kprobe).tookOver", "sonde/kprobes.(*Kprobe).noteMove",
	"sonde/kprobes.(*Camera).perform", "sonde/kprobes.(*Camera).shoot", "sonde/kprobes.(*Camera).nested", "sonde/kprobes.stepFilmed", "sonde/kwatch.(*point).callCareful", "sonde/kwatch.(*Camera).shoot",
	"sonde/kwatch.(*state).find", "sonde/kwatch.(*point).notWritten", "sonde/probe/program.keepingSSE*", "sonde/probe/program.walkStack*",
}

// noReturn are functions that a handler calls only on its way to being abandoned.
var noReturn = names{"runtime.panic*", "runtime.morestack*", "runtime.throw", "runtime.gopanic"}

// neverReturn are functions that end in other ways than by returning to their
// caller: a stack begins or ends with them, or gogo continues from there.
var neverReturn = names{
	"runtime.goexit", "runtime.mstart", "runtime.mstart0", "runtime.mstart1", "runtime.newstack",
}

// dying are functions that are called only when the kernel cannot continue.
var dying = names{"runtime.panic*", "runtime.throw", "runtime.fatal*", "runtime.morestack*", "sonde/kernel/die.Fatal"}

// offered is what handlers may call, although its code can lead to what they may not call: it is made
// for handlers, and does not go there in a trap.
var offered = names{"sonde/kernel/printk.*", "sonde/kernel/die.DumpStack", "sonde/kernel/die.Backtrace", "sonde/kernel/stack.callers"}

const storesPointer = "stores a pointer that the collector must see"

// forbidden is what does not work in a trap, by what it is called.
var forbidden = []struct {
	rule  string
	calls names
}{
	{"allocates memory", names{
		"runtime.mallocgc*", "runtime.newobject", "runtime.makeslice*", "runtime.growslice*", "runtime.makechan*",
		"runtime.makemap*", "runtime.concatstring*", "runtime.convT*", "runtime.slicebytetostring", "runtime.stringtoslicebyte",
	}},
	{storesPointer, names{
		"runtime.gcWriteBarrier*", "runtime.wbZero", "runtime.wbMove", "runtime.typedmemmove", "runtime.typedmemclr",
	}},
	{"writes to a map", names{"runtime.mapassign*", "runtime.mapdelete*", "runtime.mapclear*"}},
	{"uses a map", names{"runtime.mapaccess*", "runtime.mapIterStart", "internal/runtime/maps.*"}},
	{"uses a channel", names{"runtime.chansend*", "runtime.chanrecv*", "runtime.closechan", "runtime.selectgo", "runtime.selectnb*"}},
	{"takes a lock", names{
		"runtime.lock2", "internal/sync.(*Mutex).*", "sync.(*Mutex).*", "sync.(*RWMutex).*", "sync.(*WaitGroup).*",
		"sync.(*Once).doSlow", "runtime.semacquire*", "runtime.semrelease*",
	}},
	{"sleeps or switches goroutines", names{"time.Sleep", "runtime.gopark*", "runtime.Gosched", "runtime.mcall", "runtime.ready"}},
	{"starts a goroutine", names{"runtime.newproc*"}},
	{"panics", names{"runtime.gopanic"}},
	{"defers a call", names{"runtime.deferproc*", "runtime.deferreturn"}},
}

// ofPrograms is how the names begin that only images with processes have.
var ofPrograms = []string{"sonde/arch/amd64/user.", "sonde/uprobes.", "sonde/linux/"}

// present returns the names of ns that the image is to have.
func (g *Graph) present(ns names) names {
	if g.runsPrograms() {
		return ns
	}
	return slices.DeleteFunc(slices.Clone(ns), func(p string) bool {
		return slices.ContainsFunc(ofPrograms, func(begin string) bool { return strings.HasPrefix(p, begin) })
	})
}

// runsPrograms reports whether the image has processes.
func (g *Graph) runsPrograms() bool { return len(g.addrs(names{"sonde/linux/proc.*"})) > 0 }

// Check returns an error for each name in the rules, and in marked, that fits nothing in the image:
// then a function is unprotected, and nothing else would show it. An image without programs lacks
// some, and calls less of the runtime.
func (g *Graph) Check(marked []string) (wrong []error) {
	programs := g.runsPrograms()
	lists := map[string]names{
		"trapEntries": trapEntries, "cold": cold, "hits": hits, "saved": saved, "noReturn": noReturn, "neverReturn": neverReturn,
		"dying": dying, "offered": offered, "NoKprobe": marked,
	}
	add := func(list string, ns ...string) { lists[list] = append(lists[list], ns...) }
	for _, r := range indirect {
		add("indirect", r.caller)
		add("indirect", r.calls...)
	}
	for _, r := range keptOut {
		add("keptOut", r.names...)
	}
	for _, r := range regions {
		add("regions", r.entries...)
		add("regions", r.within...)
	}
	for _, r := range forbidden {
		if programs {
			add("forbidden", r.calls...)
		}
	}
	for list, ns := range lists {
		wrong = append(wrong, g.check(list, g.present(ns))...)
	}
	return wrong
}
