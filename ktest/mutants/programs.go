package mutants

// programs are defects in user probes.
var programs = []Mutant{
	{
		Name: "breakpoint-in-a-shared-page", File: "linux/space/breaks.go",
		Old: "\tif err == nil {\n\t\terr = s.own(a, e, page)\n", New: "\tif err == nil && len(s.breaks) > 0 {\n\t\terr = s.own(a, e, page)\n",
		By:  host("linux/space", "TestBreakIsOfOneSpace"),
		Why: "the breakpoint is in the file, and in all processes that run it",
	},
	{
		Name: "fork-keeps-breakpoints", File: "linux/space/breaks.go",
		Old: "\t\tif a := s.areas.at(b.addr); a != nil && b.of(a) && *b.in(copy) == int3 {\n", New: "\t\tif a := s.areas.at(b.addr); a == nil && *b.in(copy) == int3 {\n",
		By:  host("linux/space", "TestBreakIsNotOfAChild"),
		Why: "a child hits breakpoints that are nobody's",
	},
	{
		Name: "dropped-page-comes-back-without", File: "linux/space/breaks.go",
		Old: "\t\t*b.in(s.m.Frames.Bytes(f)) = int3\n\t}\n\treturn f, nil\n", New: "\t}\n\treturn f, nil\n",
		By:  host("linux/space", "TestBreakSurvivesDrop"),
		Why: "the probe is gone when the page has been read again",
	},
	{
		Name: "breakpoint-in-what-is-mapped-later", File: "linux/space/breaks.go",
		Old: "\treturn a.back == b.back && (b.back == nil || a.off+b.addr-a.start == b.off)\n", New: "\treturn a != nil\n",
		By:  host("linux/space", "TestBreakIsNotOfAnotherFile"),
		Why: "a breakpoint is put into another file that is mapped at the address",
	},
	{
		Name: "user-unregistering-does-not-wait", File: "uprobes/member.go",
		Old: "\tif m.running.Load() > 0 {\n\t\t<-m.idle\n\t}\n", New: "",
		By:  program(2, "uprobes/unregistering_waits_for_handlers", "probed"),
		Why: "a handler still runs when its probe has been unregistered",
	},
	{
		Name: "fault-in-a-slot-shown-there", File: "uprobes/hit.go",
		Old: "\tth.restoreIP()\n\treturn th.after", New: "\treturn th.after",
		By:  program(2, "uprobes/faults_are_seen_at_their_place", "probed"),
		Why: "the program's signal handler sees a fault in a slot",
	},
	{
		Name: "child-is-probed", File: "uprobes/hit.go",
		Old: "\t\tcase m.process != p:\n", New: "\t\tcase p == nil:\n",
		By:  host("uprobes", "TestChildOfVforkMeetsLaterBreakpoints"),
		Why: "what a child does in its parent's memory is counted for the parent",
	},
	{
		Name: "stray-breakpoint-kills", File: "uprobes/hit.go",
		Old: "\t\tif x.mem.Recheck(addr) {\n", New: "\t\tif addr == 0 && x.mem.Recheck(addr) {\n",
		By:  host("uprobes", "TestStrayHit"),
		Why: "a program is killed by a breakpoint that was removed just then",
	},
	{
		Name: "panic-leaves-the-probe-on", File: "uprobes/member.go",
		Old: "\tm.flags.Set(abandoned)\n", New: "",
		By:  host("uprobes", "TestPanicDisables"),
		Why: "a handler that panics is called again",
	},
	{
		Name: "return-loses-registers", File: "uprobes/execute.go",
		Old: "r.R11, r.CX = r11, rcx", New: "_, _ = r11, rcx",
		By:  host("uprobes", "TestReturnKeepsAllRegisters"),
		Why: "a caller that knows what the function leaves alone goes wrong",
	},
	{
		Name: "kernel-handler-registers", File: "uprobes/queue.go",
		Old: "\tif machine.InTrap() {\n", New: "\tif machine.InTrap() && o.u == nil {\n",
		By:  host("uprobes", "TestKernelHandlerMayNotRegister"),
		Why: "a handler in a trap waits for a lock",
	},
	{
		Name: "copy-for-a-program-not-corrected", File: "uprobes/place/slot.go",
		Old: "\t\tp.In.CopyTo(b, code, p.Addr, at)\n", New: "\t\tcopy(b, code)\n",
		By:  host("uprobes/place", "TestSlot"),
		Why: "the copy in the slot uses other memory of the program",
	},
	{
		Name: "breakpoint-not-quiesced", File: "linux/space/breaks.go",
		Old: "\ts.flush(page, page+PageSize, false)\n\t*at = v\n", New: "\t*at = v\n",
		By:  host("linux/space", "TestBreakIsSeenByCPUs"),
		Why: "a CPU goes on executing the byte that was there before",
	},
	{
		Name: "queue-backwards", File: "uprobes/queue.go",
		Old: "\t\to := th.queue[0]\n\t\tth.queue = th.queue[1:]\n", New: "\t\to := th.queue[len(th.queue)-1]\n\t\tth.queue = th.queue[:len(th.queue)-1]\n",
		By:  host("uprobes", "TestQueueIsCarriedOutBehindAllHandlers"),
		Why: "what handlers have asked for is done in the wrong order",
	},
	{
		Name: "step-leaves-TF", File: "uprobes/place/slot.go",
		Old: "\t\tr.Flags = r.Flags&^amd64.RFLAGS_TF | s.flags&amd64.RFLAGS_TF\n", New: "",
		By:  host("uprobes", "TestStepIsOver"),
		Why: "the program gets a SIGTRAP behind its next instruction",
	},
	{
		Name: "goroutine-of-a-dead-thread-goes-on", File: "linux/proc/handler.go",
		Old: "return t.lent.CompareAndSwap(inHandler, notLent)", New: "return t.lent.CompareAndSwap(inHandler, notLent) || true",
		By:  host("uprobes", "TestHandlerThatDoesNotReturn"),
		Why: "a handler that returns late executes a program that has ended",
	},
	{
		Name: "signal-in-a-slot", File: "uprobes/life.go",
		Old: "\t\tAway:      away,\n", New: "",
		By:  host("uprobes", "TestSignalBehindCopy"),
		Why: "a signal's handler sees the program in a slot",
	},
	{
		Name: "signal-before-a-step-is-over", File: "uprobes/execute.go",
		Old: "\t\tth.step(pt)\n\t}\n\tif r.IP == th.away.slot &&", New: "\t\treturn false\n\t}\n\tif r.IP == th.away.slot &&",
		By:  host("uprobes", "TestSignalWaitsForStep"),
		Why: "a signal's handler sees the program at the beginning of a slot",
	},
	{
		Name: "child-without-slots", File: "uprobes/life.go",
		Old: "\t\ts.page.Hold()\n\t\tx.addPage(s)\n", New: "",
		By:  host("uprobes", "TestChildUsesItsParentsSlots"),
		Why: "each child that is probed takes one more page",
	},
	{
		Name: "slots-of-a-child-not-held", File: "uprobes/life.go",
		Old: "\t\ts.page.Hold()\n", New: "",
		By:  host("uprobes", "TestChildUsesItsParentsSlots"),
		Why: "a page of slots is given back twice",
	},
	{
		Name: "old-page-given-back-early", File: "linux/space/fault.go",
		Old: "\ts.flush(page, page+PageSize, false)\n\ts.put(f)\n", New: "\ts.put(f)\n",
		By:  host("linux/space", "TestAgainstAModel"),
		Why: "when a page becomes the space's own, CPUs go on using the other",
	},
}
