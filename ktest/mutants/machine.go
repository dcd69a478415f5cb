package mutants

// machine are defects in what stops, changes and synchronizes CPUs.
var machine = []Mutant{
	{
		Name: "yields-with-interrupts-off", File: "boot/overlay/overlay.go",
		Old: "if !sondeIRQsOn() || !canPreemptM(thisg.m)", New: "if !canPreemptM(thisg.m)",
		By:  kernel(1, "sched/interrupts_off_keep_the_cpu"),
		Why: "the next goroutine runs with interrupts off",
	},
	{
		Name: "threads-that-drive-each-other-out", File: "boot/overlay/_runtime/sonde_place.go",
		Old: "!t.yielded && sondeMay", New: "sondeMay",
		By:  kernel(2, "user/loops_do_not_drive_each_other_out"),
		Why: "a thread that yields to another asks for its CPU back before that has executed anything",
	},
	{
		Name: "stop-does-not-wait", File: "kernel/smp/stop_tamago.go",
		Old: "\t\tfor i != self && here[i].Load() != n {\n", New: "\t\tfor i < self && here[i].Load() != n {\n",
		By:  kernel(4, "stop/others_stand_still"),
		Why: "code is changed while some CPUs execute it",
	},
	{
		Name: "interrupt-sent-to-the-cpu-of-another", File: "kernel/cpu/lapic_tamago.go",
		Old: "sending[self] = true", New: "sending[self] = false",
		By:  kernel(2, "stop/interrupt_sent_while_another_is_sent"),
		Why: "an NMI that comes while an interrupt is sent, and sends one itself, redirects the first",
	},
	{
		Name: "held-cpu-of-an-earlier-stop", File: "kernel/smp/stop_tamago.go",
		Old: "\tif n&1 == 0 {\n\t\treturn // given up before this CPU came\n\t}\n", New: "",
		By:  kernel(2, "stop/late_cpu_is_reported"),
		Why: "a CPU that comes to an abandoned stop stands still until the next one",
	},
	{
		Name: "other-bytes-overwritten", File: "kernel/text/batch_tamago.go",
		Old: "b.differs(i, p.Old, syscall.EILSEQ)", New: "b.differs(i, p.Old, syscall.EILSEQ) && i < 0",
		By:  kernel(1, "stop/code_that_is_not_as_expected_stays"),
		Why: "a jump is written over what somebody else has put there",
	},
	{
		Name: "failed-batch-not-undone", File: "kernel/text/batch_tamago.go",
		Old: "\t\t\tb.undo()\n", New: "",
		By:  kernel(1, "stop/patches_that_overlap_are_undone"),
		Why: "half of a batch stays",
	},
	{
		Name: "poke-loses-its-neighbour", File: "kernel/text/text_tamago.go",
		Old: "\t\tif atomic.CompareAndSwapUint32(word, v, v&^(0xff<<shift)|uint32(new)<<shift) {\n", New: "\t\tif atomic.StoreUint32(word, v&^(0xff<<shift)|uint32(new)<<shift); true {\n",
		By:  kernel(1, "kprobes/byte_next_to_a_poke_is_kept"),
		Why: "of two breakpoints that are written at the same time one is lost",
	},
	{
		Name: "nmi-in-ring-3-counts-as-passed", File: "kernel/grace/grace_tamago.go",
		Old: " && !trap.InNMI(i)", New: "",
		By:  kernel(2, "user/nmi_in_ring_3_is_not_outside_of_probes"),
		Why: "a slot is given out again while the handler of an NMI is in it",
	},
	{
		Name: "hit-of-a-program-counts-as-passed", File: "kernel/grace/grace_tamago.go",
		Old: " && !trap.InHit(i)", New: "",
		By:  program(2, "uprobes/trap_hit_is_not_outside_of_probes", "probed"),
		Why: "a slot is given out again while the handler of a program's probe is in it",
	},
	{
		Name: "idle-cpu-counts-as-passed", File: "kernel/grace/grace_tamago.go",
		Old: "\t\tif goruntime.Quiet(i) != s[i] || inRing3(i) {\n", New: "\t\tif idle, _, _ := goruntime.Idle(i); idle || goruntime.Quiet(i) != s[i] || inRing3(i) {\n",
		By:  kernel(2, "stop/grace_period_waits_for_interrupts_of_idle_cpus"),
		Why: "an idle CPU may be in an interrupt, and in a probe there",
	},
	{
		Name: "period-does-not-wait", File: "kernel/grace/grace_tamago.go",
		Old: "\tfor nap := most / 16; !s.Passed(); nap = min(2*nap, most) {\n", New: "\tfor nap := most / 16; false; nap = min(2*nap, most) {\n",
		By:  kernel(2, "sched/synchronize_waits_for_running_code"),
		Why: "a grace period is over at once",
	},
	{
		Name: "calls-before-the-period", File: "kernel/grace/call_tamago.go",
		Old: "\t\tSynchronize()\n\t\tfor _, f := range fs {\n", New: "\t\tfor _, f := range fs {\n",
		By:  kernel(2, "stop/calls_come_after_the_period_once"),
		Why: "what waits for a grace period is done before it",
	},
	{
		Name: "nmi-of-a-held-cpu-not-waited-for", File: "kernel/smp/stop_tamago.go",
		Old: "\t\tawaitNMIs()\n", New: "",
		By:  kernel(4, "stop/nmi_of_a_held_cpu_is_waited_for"),
		Why: "code is changed while a CPU executes it in an NMI",
	},
}
