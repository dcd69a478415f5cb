package mutants

// periods are defects in waiting until nobody uses what is to be changed, and in the flags that
// handlers find.
var periods = []Mutant{
	{
		Name: "period-ends-with-the-first-look", File: "kernel/grace/grace_tamago.go",
		Old: "\t\tif s.passedWithin(spin) {\n", New: "\t\tif s.passedWithin(spin) || true {\n",
		By:  kernel(2, "sched/synchronize_waits_for_running_code"),
		Why: "a grace period is over after 100 microseconds",
	},
	{
		Name: "last-cpu-not-waited-for", File: "kernel/grace/grace_tamago.go",
		Old: "\tpassed := true\n\tfor i := range cpu.Num() {\n", New: "\tpassed := true\n\tfor i := range cpu.Num() - 1 {\n",
		By:  kernel(2, "stop/grace_period_waits_for_each_cpu"),
		Why: "a grace period is over while the last CPU uses what was there before",
	},
	{
		Name: "calls-of-the-next-period-made-early", File: "kernel/grace/call_tamago.go",
		Old: "\t\tfs := take()\n\t\tif fs == nil {\n\t\t\treturn\n\t\t}\n\t\tSynchronize()\n", New: "\t\tSynchronize()\n\t\tfs := take()\n\t\tif fs == nil {\n\t\t\treturn\n\t\t}\n",
		By:  kernel(4, "stop/calls_during_a_period_wait_for_the_next"),
		Why: "what comes during a grace period is done at its end",
	},
	{
		Name: "armed-and-not-quiesced", File: "kprobes/attach.go",
		Old: "\tif written := begin(ks); len(written) > 0 {\n\t\tquiesce(written)\n\t}\n", New: "\tbegin(ks)\n",
		By:  host("kprobes", "TestBreakpointComesLast"),
		Why: "a handler runs when its probe has been unregistered",
	},
	{
		Name: "first-of-a-period-stands-for-all", File: "kernel/text/pool.go",
		Old: "n > 0 && p.returned[n].since == p.returned[n-1].since ||", New: "n > 0 ||",
		By:  host("kernel/text", "TestPoolTellsPeriodsApart"),
		Why: "a slot is given out again as soon as an older one may be",
	},
	{
		Name: "direction-flag-in-a-handler-of-a-breakpoint", File: "arch/amd64/trap/lean_amd64.s",
		Old: "\tCLD; \\\n", New: "",
		By:  kernel(1, "handlers/direction_flag"),
		Why: "a handler runs with DF set, and its copies go backwards",
	},
	{
		Name: "direction-flag-in-a-handler-of-a-jump", File: "kprobes/soft_amd64.h",
		Old: "\tCLD; \\\n", New: "",
		By:  kernel(1, "handlers/direction_flag"),
		Why: "a handler that a jump calls runs with DF set, and its copies go backwards",
	},
	{
		Name: "direction-flag-lost-behind-a-jump", File: "kprobes/soft_amd64.h",
		Old: "\tTESTL\t$const_flagDF, AX; \\\n", New: "\tTESTL\t$0, AX; \\\n",
		By:  kernel(1, "handlers/direction_flag"),
		Why: "behind a jump the code that was interrupted copies forwards",
	},
	{
		Name: "direction-flag-in-an-interrupt", File: "arch/amd64/trap/entry_amd64.s",
		Old: "\tCLD\n\tMOVQ\t(TLS), AX\n\tMOVQ\tAX, G(SP)\n", New: "\tMOVQ\t(TLS), AX\n\tMOVQ\tAX, G(SP)\n",
		By:  kernel(1, "handlers/direction_flag_in_an_interrupt"),
		Why: "an interrupt that comes while DF is set is handled with it",
	},
}
