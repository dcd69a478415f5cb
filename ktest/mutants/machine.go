package mutants

// machine are defects in what stops, changes and synchronizes CPUs.
var machine = []Mutant{
	{
		Name: "yields-with-interrupts-off", In: "boot/overlay.shimEdits",
		Old: "sondeIRQsOn() || !canPreemptM(thisg", New: "canPreemptM(thisg",
		By:  kernel(1, "sched/interrupts_off_keep_the_cpu"),
		Why: "the next goroutine runs with interrupts off",
	},
	{
		Name: "threads-that-drive-each-other-out", In: "boot/overlay/_runtime.sondeAnswer",
		Old: "!t.yielded && ", New: "",
		By:  kernel(2, "user/loops_do_not_drive_each_other_out"),
		Why: "a thread that yields to another asks for its CPU back before that has executed anything",
	},
	{
		Name: "stop-does-not-wait", In: "kernel/smp.gather",
		Old: "!= self", New: "< self",
		By:  kernel(4, "stop/others_stand_still"),
		Why: "code is changed while some CPUs execute it",
	},
	{
		Name: "interrupt-sent-to-the-cpu-of-another", In: "kernel/cpu.sendICR",
		Old: "= true", New: "= false",
		By:  kernel(2, "stop/interrupt_sent_while_another_is_sent"),
		Why: "an NMI that comes while an interrupt is sent, and sends one itself, redirects the first",
	},
	{
		Name: "held-cpu-of-an-earlier-stop", In: "kernel/smp.hold",
		Old: "if n&1 == 0 {\n\t\treturn // given up before this CPU came\n\t}", New: "",
		By:  kernel(2, "stop/late_cpu_is_reported"),
		Why: "a CPU that comes to an abandoned stop stands still until the next one",
	},
	{
		Name: "other-bytes-overwritten", In: "kernel/text.(*Batch).Commit",
		Old: "EILSEQ)", New: "EILSEQ) && i < 0",
		By:  kernel(1, "stop/code_that_is_not_as_expected_stays"),
		Why: "a jump is written over what somebody else has put there",
	},
	{
		Name: "failed-batch-not-undone", In: "kernel/text.(*Batch).Commit",
		Old: "b.undo()", New: "",
		By:  kernel(1, "stop/patches_that_overlap_are_undone"),
		Why: "half of a batch stays",
	},
	{
		Name: "poke-loses-its-neighbour", In: "kernel/text.Poke",
		Old: "CompareAndSwapUint32(word, v, v&^(0xff<<shift)|uint32(new)<<shift)", New: "StoreUint32(word, v&^(0xff<<shift)|uint32(new)<<shift); true",
		By:  kernel(1, "kprobes/byte_next_to_a_poke_is_kept"),
		Why: "of two breakpoints that are written at the same time one is lost",
	},
	{
		Name: "nmi-in-ring-3-counts-as-passed", In: "kernel/grace.inRing3",
		Old: " && !trap.InNMI(i)", New: "",
		By:  kernel(2, "user/nmi_in_ring_3_is_not_outside_of_probes"),
		Why: "a slot is given out again while the handler of an NMI is in it",
	},
	{
		Name: "hit-of-a-program-counts-as-passed", In: "kernel/grace.inRing3",
		Old: " && !trap.InHit(i)", New: "",
		By:  program(2, "uprobes/trap_hit_is_not_outside_of_probes", "probed"),
		Why: "a slot is given out again while the handler of a program's probe is in it",
	},
	{
		Name: "idle-cpu-counts-as-passed", In: "kernel/grace.(*Snapshot).Passed",
		Old: "if goruntime", New: "if idle, _, _ := goruntime.Idle(i); idle || goruntime",
		By:  kernel(2, "stop/grace_period_waits_for_interrupts_of_idle_cpus"),
		Why: "an idle CPU may be in an interrupt, and in a probe there",
	},
	{
		Name: "period-does-not-wait", In: "kernel/grace.Synchronize",
		Old: "!s.Passed()", New: "false",
		By:  kernel(2, "sched/synchronize_waits_for_running_code"),
		Why: "a grace period is over at once",
	},
	{
		Name: "calls-before-the-period", In: "kernel/grace.makeCalls",
		Old: "Synchronize()", New: "",
		By:  kernel(2, "stop/calls_come_after_the_period_once"),
		Why: "what waits for a grace period is done before it",
	},
	{
		Name: "nmi-of-a-held-cpu-not-waited-for", In: "kernel/smp.stopOthers",
		Old: "awaitNMIs()", New: "",
		By:  kernel(4, "stop/nmi_of_a_held_cpu_is_waited_for"),
		Why: "code is changed while a CPU executes it in an NMI",
	},
}
