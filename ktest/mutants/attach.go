package mutants

// attached are defects in links, and in the kinds of probes that only links have.
var attached = []Mutant{
	{
		Name: "refused-link-stays-attached", In: "probe/attach.Begin",
		Old: ".With(l.Parts.Detach())", New: "",
		By:  host("probe/attach", "TestAllOrNothing"),
		Why: "the kinds before the one that refuses keep their probes",
	},
	{
		Name: "code-of-one-kind-alone-executed", In: "kernel/grace.Change.With",
		Old: "append(c.Written, d.Written...)", New: "c.Written",
		By:  host("probe/attach", "TestOneWaitForCode"),
		Why: "CPUs do not execute what the second kind has written when the link is attached",
	},
	{
		Name: "watchpoint-that-waits-by-itself", In: "kwatch.set",
		Old: "c = c.With(this.recheck(p.addr)", New: "this.recheck(p.addr).Complete(",
		By:  kernel(2, "attach/one_wait_for_places_of_all_kinds"),
		Why: "a link with a watchpoint for execution waits twice for all CPUs",
	},
	{
		Name: "refused-version-leaves-others", In: "probe/program.(*Prog).Begin",
		Old: "*c = c.With(l.Parts.Detach())", New: "",
		By:  kernel(2, "attach/one_wait_for_versions_of_a_program"),
		Why: "a program whose last place is refused is called at the others",
	},
	{
		Name: "programs-of-an-object-attached-one-by-one", In: "probe/program.(*Set).Attach",
		Old: "Places[i])", New: "Places[i])\n\t\tc.Complete()\n\t\tc = grace.Change{}",
		By:  kernel(2, "attach/one_wait_for_programs_of_an_object"),
		Why: "an object file with three programs waits three times for all CPUs",
	},
	{
		Name: "programs-of-an-object-detached-one-by-one", In: "probe/program.Detach",
		Old: "Then = append(c.Then, p.mu.Unlock)", New: "Complete()\n\t\tp.mu.Unlock()\n\t\tc = grace.Change{}",
		By:  kernel(2, "attach/one_wait_for_programs_of_an_object"),
		Why: "it waits three times when it is detached",
	},
	{
		Name: "refused-program-leaves-others", In: "probe/program.(*Set).Attach",
		Old: "s.Detach()", New: "",
		By:  kernel(2, "attach/one_wait_for_programs_of_an_object"),
		Why: "programs of an object file stay attached although the last one was refused",
	},
	{
		Name: "probes-of-a-script-attached-one-by-one", In: "trace/run.link",
		Old: "Begin(c, sites, o)", New: "Attach(sites, o)",
		By:  kernel(2, "attach/one_wait_for_probes_of_a_script"),
		Why: "a script with three probes waits three times for all CPUs",
	},
	{
		Name: "probes-of-a-script-detached-one-by-one", In: "probe/program.Detach",
		Old: "Then = append(c.Then, p.mu.Unlock)", New: "Complete()\n\t\tp.mu.Unlock()\n\t\tc = grace.Change{}",
		By:  kernel(2, "attach/one_wait_for_probes_of_a_script"),
		Why: "it waits three times when it ends",
	},
	{
		Name: "programs-of-a-script-freed-one-by-one", In: "probe/program.CloseAll",
		Old: "free(ended...)", New: "for _, p := range ended {\n\t\tfree(p)\n\t}",
		By:  kernel(2, "attach/one_wait_for_probes_of_a_script"),
		Why: "it waits for a grace period for each program",
	},
	{
		Name: "event-and-its-program-wait-each", In: "linux/perf.(*Event).SetProgram",
		Old: "c = c.With(e.link.Detach()", New: "e.link.Detach().Complete(",
		By:  kernel(2, "attach/one_wait_for_a_program_of_an_event"),
		Why: "an event that gets a program waits twice for all CPUs",
	},
	{
		Name: "link-half-enabled", In: "probe/attach.Parts.Enable",
		Old: "changed.Enable(!on)", New: "",
		By:  host("probe/attach", "TestEnableAllOrNothing"),
		Why: "after an error half of a link is disabled",
	},
	{
		Name: "module-keeps-its-links", In: "probe/attach.forgetModule",
		Old: "name {", New: `name && name == "" {`,
		By:  host("probe/attach", "TestModuleForgetsALink"),
		Why: "handlers of a module that is gone are called",
	},
	{
		Name: "module-keeps-probes-without-a-link", In: "probe/attach.forgetModule",
		Old: "forgotten = append(forgotten, f.Forget(name)...", New: `f.Forget(""`,
		By:  host("probe/attach", "TestModuleForgetsALink"),
		Why: "handlers that a module has registered by a kind's own functions are called when it is gone",
	},
	{
		Name: "link-closed-while-nobody-listens", In: "linux/calls.(*attachment).close",
		Old: "a.drain", New: "for _, w := range a.watches {\n\t\tw.end()\n\t}\n\ta.drain",
		By:  host("linux/calls", "TestStuckHandlerWhileClosing"),
		Why: "closing a link waits for ever for a thread that has ended in its handler",
	},
	{
		Name: "option-without-a-kind-that-knows-it", In: "probe/attach.Site.fits",
		Old: "Kind);", New: "Kind) &^ Blocks;",
		By:  host("probe/attach", "TestRefusedOptions"),
		Why: "a handler that blocks is called in a trap",
	},
	{
		Name: "disabled-watchpoint-still-watched", In: "kwatch.wanted",
		Old: "!p.disabled.Load() && ", New: "",
		By:  host("kwatch", "TestEnable"),
		Why: "a disabled watchpoint has hits",
	},
	{
		Name: "watchpoint-enabled-with-an-old-value", In: "kwatch.enable",
		Old: "if on && p.disabled.Load() {\n\t\t\tp.look()\n\t\t}", New: "",
		By:  kernel(1, "attach/watchpoint"),
		Why: "the first hit after enabling has the old value of before it was disabled",
	},
	{
		Name: "call-link-closed-under-a-handler", In: "linux/calls.(*state).drain",
		Old: "for len(s.running) > 0 {\n\t\ts.idle.Wait()\n\t}", New: "",
		By:  host("linux/calls", "TestCloseWaits"),
		Why: "a handler runs after Close",
	},
	{
		Name: "call-that-never-returns-forgotten", In: "linux/calls.(*watch).exit",
		Old: "w.forget(t, ledger.Abandoned)", New: "",
		By:  host("linux/calls", "TestCallThatNeverReturns"),
		Why: "a call in which the thread ends stays in flight for ever",
	},
	{
		Name: "call-handler-that-panicked-called-again", In: "linux/calls.(*watch).fail",
		Old: "w.abandoned.Store(true)", New: "",
		By:  host("linux/calls", "TestBadHandlers"),
		Why: "a handler that panics does so at each call",
	},
	{
		Name: "tick-on-one-cpu-only", In: "probe/tick.(*ticker).isDue",
		Old: "&& !t.all ", New: "",
		By:  kernel(2, "attach/tick_on_each_cpu"),
		Why: "tick: is every:",
	},
	{
		Name: "abandoned-tick-goes-on", In: "probe/tick.blame",
		Old: "t.flags.Set(abandoned)", New: "true",
		By:  kernel(1, "attach/tick_handlers_that_break_the_rules"),
		Why: "a handler that breaks the rules does so at each tick",
	},
	{
		Name: "probe-of-a-link-judged-by-its-shim", In: "kprobes.(*Kprobe).called",
		Old: "case k.Place != nil:\n\t\treturn k.Place.Link.Handler", New: "",
		By:  kernel(1, "attach/handler_that_allocates_is_named"),
		Why: "the report names the function that calls the handler, or none",
	},
}
