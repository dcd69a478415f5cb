package mutants

// attached are defects in links, and in the kinds of probes that only links have.
var attached = []Mutant{
	{
		Name: "refused-link-stays-attached", File: "kernel/attach/link.go",
		Old: "return nil, c.With(more).With(l.Parts.Detach()), err", New: "return nil, c.With(more), err",
		By:  host("kernel/attach", "TestAllOrNothing"),
		Why: "the kinds before the one that refuses keep their probes",
	},
	{
		Name: "code-of-one-kind-alone-executed", File: "kernel/attach/change.go",
		Old: "append(c.Written, d.Written...)", New: "c.Written",
		By:  host("kernel/attach", "TestOneWaitForCode"),
		Why: "CPUs do not execute what the second kind has written when the link is attached",
	},
	{
		Name: "watchpoint-that-waits-by-itself", File: "kwatch/register.go",
		Old: "\t\t\tc = c.With(this.recheck(p.addr))\n", New: "\t\t\tthis.recheck(p.addr).Complete()\n",
		By:  kernel(2, "attach/one_wait_for_places_of_all_kinds"),
		Why: "a link with a watchpoint for execution waits twice for all CPUs",
	},
	{
		Name: "refused-version-leaves-others", File: "kernel/bpf/through.go",
		Old: "\t\t*c = c.With(l.Parts.Detach())\n", New: "",
		By:  kernel(2, "attach/one_wait_for_versions_of_a_program"),
		Why: "a program whose last place is refused is called at the others",
	},
	{
		Name: "programs-of-an-object-attached-one-by-one", File: "kernel/bpf/object.go",
		Old: "s.Progs[i].join(&c, owner, s.Places[i])\n", New: "s.Progs[i].join(&c, owner, s.Places[i])\n\t\tc.Complete()\n\t\tc = attach.Change{}\n",
		By:  kernel(2, "attach/one_wait_for_programs_of_an_object"),
		Why: "an object file with three programs waits three times for all CPUs",
	},
	{
		Name: "programs-of-an-object-detached-one-by-one", File: "kernel/bpf/link.go",
		Old: "c.Then = append(c.Then, p.mu.Unlock)\n", New: "c.Complete()\n\t\tp.mu.Unlock()\n\t\tc = attach.Change{}\n",
		By:  kernel(2, "attach/one_wait_for_programs_of_an_object"),
		Why: "it waits three times when it is detached",
	},
	{
		Name: "refused-program-leaves-others", File: "kernel/bpf/object.go",
		Old: "err != nil {\n\t\ts.Detach()\n", New: "err != nil {\n",
		By:  kernel(2, "attach/one_wait_for_programs_of_an_object"),
		Why: "programs of an object file stay attached although the last one was refused",
	},
	{
		Name: "probes-of-a-script-attached-one-by-one", File: "trace/run/every_trap.go",
		Old: "\t\treturn p.Begin(c, sites, o, nil)\n", New: "\t\treturn p.AttachSites(sites, o)\n",
		By:  kernel(2, "attach/one_wait_for_probes_of_a_script"),
		Why: "a script with three probes waits three times for all CPUs",
	},
	{
		Name: "probes-of-a-script-detached-one-by-one", File: "kernel/bpf/link.go",
		Old: "c.Then = append(c.Then, p.mu.Unlock)\n", New: "c.Complete()\n\t\tp.mu.Unlock()\n\t\tc = attach.Change{}\n",
		By:  kernel(2, "attach/one_wait_for_probes_of_a_script"),
		Why: "it waits three times when it ends",
	},
	{
		Name: "programs-of-a-script-freed-one-by-one", File: "kernel/bpf/prog.go",
		Old: "\tfree(ended...)\n", New: "\tfor _, p := range ended {\n\t\tfree(p)\n\t}\n",
		By:  kernel(2, "attach/one_wait_for_probes_of_a_script"),
		Why: "it waits for a grace period for each program",
	},
	{
		Name: "event-and-its-program-wait-each", File: "linux/perf/open.go",
		Old: "c = c.With(e.link.Detach())", New: "e.link.Detach().Complete()",
		By:  kernel(2, "attach/one_wait_for_a_program_of_an_event"),
		Why: "an event that gets a program waits twice for all CPUs",
	},
	{
		Name: "link-half-enabled", File: "kernel/attach/provider.go",
		Old: "\t\t\tchanged.Enable(!on)\n", New: "",
		By:  host("kernel/attach", "TestEnableAllOrNothing"),
		Why: "after an error half of a link is disabled",
	},
	{
		Name: "module-keeps-its-links", File: "kernel/attach/face.go",
		Old: "\t\tif l.Options.Owner == name {\n", New: "\t\tif l.Options.Owner == name && name == \"\" {\n",
		By:  host("kernel/attach", "TestModuleForgetsALink"),
		Why: "handlers of a module that is gone are called",
	},
	{
		Name: "module-keeps-probes-without-a-link", File: "kernel/attach/face.go",
		Old: "\t\tforgotten = append(forgotten, f.Forget(name)...)\n", New: "\t\tf.Forget(\"\")\n",
		By:  host("kernel/attach", "TestModuleForgetsALink"),
		Why: "handlers that a module has registered by a kind's own functions are called when it is gone",
	},
	{
		Name: "link-closed-while-nobody-listens", File: "linux/calls/calls.go",
		Old: "\ta.drain() // first", New: "\tfor _, w := range a.watches {\n\t\tw.end()\n\t}\n\ta.drain() // first",
		By:  host("linux/calls", "TestStuckHandlerWhileClosing"),
		Why: "closing a link waits for ever for a thread that has ended in its handler",
	},
	{
		Name: "option-without-a-kind-that-knows-it", File: "kernel/attach/provider.go",
		Old: "needs &^ p.Can(s.Kind); {", New: "needs &^ p.Can(s.Kind) &^ Blocks; {",
		By:  host("kernel/attach", "TestRefusedOptions"),
		Why: "a handler that blocks is called in a trap",
	},
	{
		Name: "disabled-watchpoint-still-watched", File: "kwatch/register.go",
		Old: "!p.gone.Load() && !p.disabled.Load() && ", New: "!p.gone.Load() && ",
		By:  host("kwatch", "TestEnable"),
		Why: "a disabled watchpoint has hits",
	},
	{
		Name: "watchpoint-enabled-with-an-old-value", File: "kwatch/register.go",
		Old: "\t\tif on && p.disabled.Load() {\n\t\t\tp.look()\n\t\t}\n", New: "",
		By:  kernel(1, "attach/watchpoint"),
		Why: "the first hit after enabling has the old value of before it was disabled",
	},
	{
		Name: "call-link-closed-under-a-handler", File: "linux/calls/hit.go",
		Old: "\tfor len(s.running) > 0 {\n\t\ts.idle.Wait()\n\t}\n", New: "",
		By:  host("linux/calls", "TestCloseWaits"),
		Why: "a handler runs after Close",
	},
	{
		Name: "call-that-never-returns-forgotten", File: "linux/calls/hit.go",
		Old: "\tw.forget(t, probe.Abandoned)\n", New: "",
		By:  host("linux/calls", "TestCallThatNeverReturns"),
		Why: "a call in which the thread ends stays in flight for ever",
	},
	{
		Name: "call-handler-that-panicked-called-again", File: "linux/calls/hit.go",
		Old: "\tw.abandoned.Store(true)\n", New: "",
		By:  host("linux/calls", "TestBadHandlers"),
		Why: "a handler that panics does so at each call",
	},
	{
		Name: "tick-on-one-cpu-only", File: "kernel/tick/hit_trap.go",
		Old: "id != 0 && !t.all ||", New: "id != 0 ||",
		By:  kernel(2, "attach/tick_on_each_cpu"),
		Why: "tick: is every:",
	},
	{
		Name: "abandoned-tick-goes-on", File: "kernel/tick/hit_trap.go",
		Old: "\treturn h, t.flags.Set(abandoned)\n", New: "\treturn h, true\n",
		By:  kernel(1, "attach/tick_handlers_that_break_the_rules"),
		Why: "a handler that breaks the rules does so at each tick",
	},
	{
		Name: "probe-of-a-link-judged-by-its-shim", File: "kprobes/kprobe.go",
		Old: "\tcase k.Place != nil:\n\t\treturn k.Place.Link.Handler\n", New: "",
		By:  kernel(1, "attach/handler_that_allocates_is_named"),
		Why: "the report names the function that calls the handler, or none",
	},
}
