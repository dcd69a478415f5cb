package mutants

// Hits of programs that are handled in trap context.
var trapHits = []Mutant{
	{
		Name: "trap-hit-of-a-disabled-probe", In: "uprobes.callHandlers",
		Old: "Has(unregistered|abandoned|disabled)", New: "Has(unregistered|abandoned)",
		By:  program(2, "uprobes/disabled_and_enabled_in_trap", "probed"),
		Why: "the handler of a disabled probe is called if another probe is at its place",
	},
	{
		Name: "trap-call-without-room", In: "uprobes.enters",
		Old: "if !c.holds(pt) {\n\t\t\treturn false\n\t\t}", New: "",
		By:  program(2, "uprobes/trap_returns_of_deep_calls", "probed"),
		Why: "calls deeper than there is room for are not noted",
	},
	{
		Name: "trap-hit-with-a-handler-that-may-block", In: "uprobes.(*point).publish",
		Old: "trap = trap && m.trapSafe", New: "",
		By:  program(2, "uprobes/trap_and_goroutine_at_one_place", "probed"),
		Why: "a handler that may block is called in trap context",
	},
	{
		Name: "handler-beside-a-return-probe-left-out", In: "uprobes.(*point).publish",
		Old: "!= len", New: "> len",
		By:  host("uprobes", "TestDisabledBesideAnother"),
		Why: "a probe at a place with a return probe is not called",
	},
	{
		Name: "trap-handler-not-waited-for", In: "uprobes.leaving",
		Old: "c.Each = []func(){func() {}}", New: "",
		By:  program(2, "uprobes/trap_unregistering_waits_for_handlers", "probed"),
		Why: "a handler in trap context still runs when its probe has been unregistered",
	},
	{
		Name: "trap-handler-takes-vectors", In: "uprobes.(*state).begin",
		Old: "m.careful ", New: "false && m.careful ",
		By:  program(2, "uprobes/trap_leaves_vectors_alone", "probed"),
		Why: "a handler that computes with floating-point numbers changes the program's",
	},
	{
		Name: "trap-hit-begun-again", In: "uprobes.(*thread).hit",
		Old: "== toldNothing", New: "<= toldDecided",
		By:  program(2, "uprobes/trap_hit_goes_on_in_the_goroutine", "probed"),
		Why: "a hit that its goroutine has to complete calls its handlers twice",
	},
	{
		Name: "trap-handler-gives-privileges", In: "arch/amd64/user.FixUp",
		Old: "r.Flags = r.Flags&programFlags | amd64.RFLAGS_FIXED | amd64.RFLAGS_IF", New: "",
		By:  program(2, "uprobes/trap_handler_sets_ip", "probed"),
		Why: "a program gets the flags that a handler has set, and may turn interrupts off",
	},
	{
		Name: "trap-hit-hidden-from-an-engine", In: "uprobes.(*thread).tie",
		Old: "|| !th.t.Process().First(engine) ", New: "",
		By:  program(2, "uprobes/traps_are_hidden_from_later_engines_in_trap", "probed"),
		Why: "an engine that was attached before is not told of breakpoints",
	},
	{
		Name: "outer-handler-blamed", In: "probe/handler.innermost",
		Old: "< in.on", New: "> in.on",
		By:  program(2, "uprobes/trap_handler_hits_a_kernel_probe", "probed"),
		Why: "the handler of a program's probe is abandoned for what a kernel probe's has done inside of it",
	},
}
