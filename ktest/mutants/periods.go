package mutants

// periods are defects in waiting until nothing uses what is to be changed, and in the flags that
// handlers find.
var periods = []Mutant{
	{
		Name: "period-ends-with-the-first-look", In: "kernel/grace.Synchronize",
		Old: "spin) {", New: "spin) || true {",
		By:  kernel(2, "sched/synchronize_waits_for_running_code"),
		Why: "a grace period is over after 100 microseconds",
	},
	{
		Name: "last-cpu-not-waited-for", In: "kernel/grace.(*Snapshot).Passed",
		Old: "Num() {", New: "Num() - 1 {",
		By:  kernel(2, "stop/grace_period_waits_for_each_cpu"),
		Why: "a grace period is over while the last CPU uses what was there before",
	},
	{
		Name: "calls-of-the-next-period-made-early", In: "kernel/grace.makeCalls",
		Old: "fs := take()\n\t\tif fs == nil {\n\t\t\treturn\n\t\t}\n\t\tSynchronize()", New: "Synchronize()\n\t\tfs := take()\n\t\tif fs == nil {\n\t\t\treturn\n\t\t}",
		By:  kernel(4, "stop/calls_during_a_period_wait_for_the_next"),
		Why: "what comes during a grace period is done at its end",
	},
	{
		Name: "armed-and-not-quiesced", In: "kprobes.registerUnadvised",
		Old: "if written := begin(ks); len(written) > 0 {\n\t\tquiesce(written)\n\t}", New: "begin(ks)",
		By:  host("kprobes", "TestBreakpointComesLast"),
		Why: "a handler runs when its probe has been unregistered",
	},
	{
		Name: "first-of-a-period-stands-for-all", In: "kernel/text.(*Pool).reap",
		Old: "&& p.returned[n].since == p.returned[n-1].since ", New: "",
		By:  host("kernel/text", "TestPoolTellsPeriodsApart"),
		Why: "a slot is given out again as soon as an older one may be",
	},
	{
		Name: "direction-flag-in-a-handler-of-a-breakpoint", In: "arch/amd64/trap.LEAN",
		Old: `CLD; \`, New: "",
		By:  kernel(1, "handlers/direction_flag"),
		Why: "a handler runs with DF set, and its copies go backwards",
	},
	{
		Name: "direction-flag-in-a-handler-of-a-jump", In: "kprobes.SAVE",
		Old: `CLD; \`, New: "",
		By:  kernel(1, "handlers/direction_flag"),
		Why: "a handler that a jump calls runs with DF set, and its copies go backwards",
	},
	{
		Name: "direction-flag-lost-behind-a-jump", In: "kprobes.RESTORE_RARE",
		Old: "$const_flagDF", New: "$0",
		By:  kernel(1, "handlers/direction_flag"),
		Why: "behind a jump the code that was interrupted copies forwards",
	},
	{
		Name: "direction-flag-in-an-interrupt", In: "arch/amd64/trap.save",
		Old: "CLD\n\tMOVQ", New: "MOVQ",
		By:  kernel(1, "handlers/direction_flag_in_an_interrupt"),
		Why: "an interrupt that comes while DF is set is handled with it",
	},
}
