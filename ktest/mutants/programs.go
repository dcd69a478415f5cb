package mutants

// programs are defects in user probes.
var programs = []Mutant{
	{
		Name: "breakpoint-in-a-shared-page", In: "linux/space.(*Space).Break",
		Old: "err == nil ", New: "err == nil && len(s.breaks) > 0 ",
		By:  host("linux/space", "TestBreakIsOfOneSpace"),
		Why: "the breakpoint is in the file, and in all processes that run it",
	},
	{
		Name: "fork-keeps-breakpoints", In: "linux/space.(*Space).clean",
		Old: "!= nil && b.of(a)", New: "== nil",
		By:  host("linux/space", "TestBreakIsNotOfAChild"),
		Why: "a child hits breakpoints that are nobody's",
	},
	{
		Name: "dropped-page-comes-back-without", In: "linux/space.(*Space).rearm",
		Old: "*b.in(s.m.Frames.Bytes(f)) = int3", New: "",
		By:  host("linux/space", "TestBreakSurvivesDrop"),
		Why: "the probe is gone when the page has been read again",
	},
	{
		Name: "breakpoint-in-what-is-mapped-later", In: "linux/space.(*breakpoint).of",
		Old: ".back == b.back && (b.back == nil || a.off+b.addr-a.start == b.off)", New: " != nil",
		By:  host("linux/space", "TestBreakIsNotOfAnotherFile"),
		Why: "a breakpoint is put into another file that is mapped at the address",
	},
	{
		Name: "user-unregistering-does-not-wait", In: "uprobes.(*member).drain",
		Old: "if m.running.Load() > 0 {\n\t\t<-m.idle\n\t}", New: "",
		By:  host("uprobes", "TestDrainWaits"),
		Why: "a handler still runs when its probe has been unregistered",
	},
	{
		Name: "fault-in-a-slot-shown-there", In: "uprobes.exception",
		Old: "th.restoreIP()", New: "",
		By:  program(2, "uprobes/faults_are_seen_at_their_place", "probed"),
		Why: "the program's signal handler sees a fault in a slot",
	},
	{
		Name: "child-is-probed", In: "uprobes.callHandlers",
		Old: "m.process != p", New: "p == nil",
		By:  host("uprobes", "TestChildOfVforkMeetsLaterBreakpoints"),
		Why: "what a child does in its parent's memory is counted for the parent",
	},
	{
		Name: "stray-breakpoint-kills", In: "uprobes.(*thread).stray",
		Old: "x.mem.", New: "addr == 0 && x.mem.",
		By:  host("uprobes", "TestStrayHit"),
		Why: "a program is killed by a breakpoint that was removed just then",
	},
	{
		Name: "panic-leaves-the-probe-on", In: "uprobes.(*member).fail",
		Old: "m.flags.Set(abandoned)", New: "",
		By:  host("uprobes", "TestPanicDisables"),
		Why: "a handler that panics is called again",
	},
	{
		Name: "return-loses-registers", In: "uprobes.systemCall",
		Old: "r.R11, r.CX", New: "_, _",
		By:  host("uprobes", "TestReturnKeepsAllRegisters"),
		Why: "a caller that knows what the function leaves alone goes wrong",
	},
	{
		Name: "kernel-handler-registers", In: "uprobes.submit",
		Old: "InTrap() ", New: "InTrap() && o.u == nil ",
		By:  host("uprobes", "TestKernelHandlerMayNotRegister"),
		Why: "a handler in a trap waits for a lock",
	},
	{
		Name: "copy-for-a-program-not-corrected", In: "uprobes/place.(*Plan).Slot",
		Old: "p.In.CopyTo(b, code, p.Addr, at", New: "copy(b, code",
		By:  host("uprobes/place", "TestSlot"),
		Why: "the copy in the slot uses other memory of the program",
	},
	{
		Name: "breakpoint-not-quiesced", In: "linux/space.(*Space).write",
		Old: "s.flush(page, page+PageSize, false)", New: "",
		By:  host("linux/space", "TestBreakIsSeenByCPUs"),
		Why: "a CPU goes on executing the byte that was there before",
	},
	{
		Name: "queue-backwards", In: "uprobes.(*thread).carryOut",
		Old: "0]\n\t\tth.queue = th.queue[1:", New: "len(th.queue)-1]\n\t\tth.queue = th.queue[:len(th.queue)-1",
		By:  host("uprobes", "TestQueueIsCarriedOutBehindAllHandlers"),
		Why: "what handlers have asked for is done in the wrong order",
	},
	{
		Name: "step-leaves-TF", In: "uprobes/place.(*Plan).restoreTF",
		Old: "r.Flags = r.Flags&^amd64.RFLAGS_TF | s.flags&amd64.RFLAGS_TF", New: "",
		By:  host("uprobes", "TestStepIsOver"),
		Why: "the program gets a SIGTRAP behind its next instruction",
	},
	{
		Name: "goroutine-of-a-dead-thread-goes-on", In: "linux/proc.(*Thread).LeaveHandler",
		Old: "notLent)", New: "notLent) || true",
		By:  host("uprobes", "TestHandlerThatDoesNotReturn"),
		Why: "a handler that returns late executes a program that has ended",
	},
	{
		Name: "signal-in-a-slot", In: "uprobes.init",
		Old: "Away:      away,", New: "",
		By:  host("uprobes", "TestSignalBehindCopy"),
		Why: "a signal's handler sees the program in a slot",
	},
	{
		Name: "signal-before-a-step-is-over", In: "uprobes.away",
		Old: "th.step(pt)", New: "return false",
		By:  host("uprobes", "TestSignalWaitsForStep"),
		Why: "a signal's handler sees the program at the beginning of a slot",
	},
	{
		Name: "child-without-slots", In: "uprobes.(*text).inherit",
		Old: "s.page.Hold()\n\t\tx.addPage(s)", New: "",
		By:  host("uprobes", "TestChildUsesItsParentsSlots"),
		Why: "each child that is probed takes one more page",
	},
	{
		Name: "slots-of-a-child-not-held", In: "uprobes.(*text).inherit",
		Old: "s.page.Hold()", New: "",
		By:  host("uprobes", "TestChildUsesItsParentsSlots"),
		Why: "a page of slots is given back twice",
	},
	{
		Name: "old-page-given-back-early", In: "linux/space.(*Space).own",
		Old: "flush(page, page+PageSize, false)\n\ts.", New: "",
		By:  host("linux/space", "TestAgainstAModel"),
		Why: "when a page becomes the space's own, CPUs go on using the other",
	},
}
