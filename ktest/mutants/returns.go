package mutants

// returns are defects in return probes.
var returns = []Mutant{
	{
		Name: "instance-not-given-back-when-a-call-never-returns", In: "kprobes.leaveCall",
		Old: "giveBack(in, id)", New: "_ = giveBack",
		By:  kernel(2, "returns/panics_through_probed_calls_give_instances_back"),
		Why: "after some panics no call gets an instance any more",
	},
	{
		Name: "instance-kept-when-the-entry-handler-declines", In: "kprobes.(*Kretprobe).note",
		Old: "rp.pool.put(in, id)", New: "",
		By:  kernel(1, "returns/entry_handler_declines"),
		Why: "after some calls that the entry handler declines no call gets an instance any more",
	},
	{
		Name: "no-instance-not-counted", In: "kprobes.(*Kretprobe).note",
		Old: "rp.KP.ledger.Count(id, ledger.NoInst)", New: "",
		By:  kernel(2, "returns/nmissed_is_exact"),
		Why: "calls for which there is no instance are lost without a trace",
	},
	{
		Name: "second-probe-takes-the-trampoline-for-the-caller", In: "kprobes.(*Kretprobe).note",
		Old: "lr = asInstance(*head).RetAddr", New: "",
		By:  kernel(1, "returns/several_probes_on_one_function"),
		Why: "with two return probes the handler of one sees the trampoline as the caller",
	},
	{
		Name: "return-handler-of-an-unregistered-probe", In: "kprobes.onReturn",
		Old: "flagsReturn != flagRegistered: // disabled or not: kprobes.txt §1.3.2", New: "flagGone != 0:",
		By:  kernel(2, "returns/parked_call_outlives_its_probe"),
		Why: "a handler is called when its module may be gone",
	},
	{
		Name: "call-in-flight-forgotten", In: "kprobes.(*Kretprobe).prepare",
		Old: "flying !=", New: "flying <",
		By:  host("kprobes", "TestCallsInFlight"),
		Why: "a call returns through an instance that has been made anew",
	},
	{
		Name: "grave-empty", In: "kprobes.(*Kretprobe).detached",
		Old: "if rp.pool.inUse() > 0 {\n\t\tlingering = append(lingering, rp)\n\t}", New: "",
		By:  host("kprobes", "TestCallsInFlight"),
		Why: "the collector frees instances through which calls will return",
	},
	{
		Name: "switchers-not-refused", In: "kprobes.(*Kprobe).fits",
		Old: `!= "" {`, New: `== "-" {`,
		By:  host("kprobes", "TestReturnProbeRefuses"),
		Why: "a function that does not return on its own stack gets a return probe",
	},
	{
		Name: "pool-of-others-not-looked-at", In: "kprobes.(*pool).find",
		Old: "lists {", New: "lists[:1] {",
		By:  host("kprobes", "TestPoolFindsEveryInstance"),
		Why: "calls are missed while other CPUs have instances",
	},
	{
		Name: "pool-gives-an-instance-twice", In: "kprobes.(*freeList).pop",
		Old: "atomic.LoadUint64(&in.nextFree)", New: "in.index1",
		By:  host("kprobes", "TestPoolFromAllCPUsAtOnce"),
		Why: "two CPUs get the same instance",
	},
}
