package mutants

// returns are defects in return probes.
var returns = []Mutant{
	{
		Name: "instance-not-given-back-when-a-call-never-returns", File: "kprobes/kretprobe_trap.go",
		Old: "\tin.RP.KP.ledger.CountNested(id, probe.Abandoned)\n\tgiveBack(in, id)\n", New: "\tin.RP.KP.ledger.CountNested(id, probe.Abandoned)\n\t_ = giveBack\n",
		By:  kernel(2, "returns/panics_through_probed_calls_give_instances_back"),
		Why: "after some panics no call gets an instance any more",
	},
	{
		Name: "instance-kept-when-the-entry-handler-declines", File: "kprobes/kretprobe_trap.go",
		Old: "\t\trp.pool.put(in, id)\n", New: "",
		By:  kernel(1, "returns/entry_handler_declines"),
		Why: "after some calls that the entry handler declines no call gets an instance any more",
	},
	{
		Name: "no-instance-not-counted", File: "kprobes/kretprobe_trap.go",
		Old: "\t\trp.KP.ledger.Count(id, probe.NoInst)\n", New: "",
		By:  kernel(2, "returns/nmissed_is_exact"),
		Why: "calls for which there is no instance are lost without a trace",
	},
	{
		Name: "second-probe-takes-the-trampoline-for-the-caller", File: "kprobes/kretprobe_trap.go",
		Old: "\t\tlr = asInstance(*head).RetAddr\n", New: "",
		By:  kernel(1, "returns/several_probes_on_one_function"),
		Why: "with two return probes the handler of one sees the trampoline as the caller",
	},
	{
		Name: "return-handler-of-an-unregistered-probe", File: "kprobes/kretprobe_trap.go",
		Old: "\tcase k.Flags&flagsReturn != flagRegistered: // disabled or not: kprobes.txt §1.3.2\n", New: "\tcase k.Flags&flagGone != 0:\n",
		By:  kernel(2, "returns/parked_call_outlives_its_probe"),
		Why: "a handler is called when its module may be gone",
	},
	{
		Name: "call-in-flight-forgotten", File: "kprobes/kretprobe.go",
		Old: "\tcase flying != 0:\n", New: "\tcase flying < 0:\n",
		By:  host("kprobes", "TestCallsInFlight"),
		Why: "a call returns through an instance that has been made anew",
	},
	{
		Name: "grave-empty", File: "kprobes/kretprobe.go",
		Old: "\tif rp.pool.inUse() > 0 {\n\t\tlingering = append(lingering, rp)\n\t}\n", New: "",
		By:  host("kprobes", "TestCallsInFlight"),
		Why: "the collector frees instances through which calls will return",
	},
	{
		Name: "switchers-not-refused", File: "kprobes/attach.go",
		Old: "k.kind == kindKretprobe && why != \"\" {\n", New: "k.kind == kindKretprobe && why == \"-\" {\n",
		By:  host("kprobes", "TestReturnProbeRefuses"),
		Why: "a function that does not return on its own stack gets a return probe",
	},
	{
		Name: "pool-of-others-not-looked-at", File: "kprobes/pool.go",
		Old: "\tfor range p.lists {\n", New: "\tfor range p.lists[:1] {\n",
		By:  host("kprobes", "TestPoolFindsEveryInstance"),
		Why: "calls are missed while other CPUs have instances",
	},
	{
		Name: "pool-gives-an-instance-twice", File: "kprobes/pool.go",
		Old: "\t\tnext := atomic.LoadUint64(&in.nextFree)\n", New: "\t\tnext := in.index1\n",
		By:  host("kprobes", "TestPoolFromAllCPUsAtOnce"),
		Why: "two CPUs get the same instance",
	},
}
