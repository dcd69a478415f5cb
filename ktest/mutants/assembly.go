package mutants

// assembly are defects in what is written out in assembly, beside the Go functions that do
// the same.
var assembly = []Mutant{
	{
		Name: "detour-takes-a-nested-hit-for-a-new-one", In: "kprobes.detour",
		Old: "CMPL\tSTATE(state_phase), $const_idle\n\tJNE\tslow", New: "",
		By:  kernel(1, "optimized/probes_below_a_handler_are_missed_exactly"),
		Why: "a jump inside a handler calls another one",
	},
	{
		Name: "detour-does-not-count-its-handler", In: "kprobes.detour",
		Old: "INCQ\t(const_accountN+8*const_called)(R8)", New: "",
		By:  kernel(1, "optimized/jump_goes_in_and_out"),
		Why: "hits by a jump are not counted",
	},
	{
		Name: "abandoned-and-handled", In: "kprobes.afterAbandon",
		Old: "k.ledger.Uncount(id, ledger.Called)", New: "",
		By:  kernel(1, "optimized/returns_behind_an_abandoned_handler"),
		Why: "a hit whose handler was abandoned is counted twice",
	},
	{
		Name: "abandoned-handler-called-again", In: "kprobes.(*point).behind",
		Old: "&& !found", New: "&& found",
		By:  kernel(1, "optimized/returns_behind_an_abandoned_handler"),
		Why: "the hit goes on with the probe whose handler was abandoned",
	},
	{
		Name: "nothing-behind-an-abandoned-handler", In: "kprobes.(*point).behind",
		Old: "*at == k", New: "false",
		By:  kernel(1, "optimized/returns_behind_an_abandoned_handler"),
		Why: "the return probe behind a kprobe that was abandoned is not entered",
	},
	{
		Name: "idle-before-the-list-has-ended", In: "kprobes.callOthers",
		Old: "st.phase = pre //", New: "//",
		By:  kernel(2, "optimized/interrupt_with_a_return_probe_at_the_end_of_a_list"),
		Why: "an interrupt's hit leaves its return probe to the hit of a list",
	},
	{
		Name: "alone-although-in-a-list", In: "kprobes.(*state).alone",
		Old: " && st.listed != st.soft", New: "",
		By:  kernel(1, "optimized/handlers_that_break_the_rules"),
		Why: "a hit of several probes is taken for one that its code has counted",
	},
	{
		Name: "return-probe-entered-twice", In: "kprobes.callOthers",
		Old: "st.point = uintptr(unsafe.Pointer(&nowhere))", New: "",
		By:  kernel(2, "optimized/list_gets_shorter_during_a_hit"),
		Why: "the list goes to the return probe, and then the code of the hit does",
	},
	{
		Name: "frame-below-another-has-no-cpu", In: "kprobes.SAVE_RARE",
		Old: `MOVQ	R13, trapFrame_cpu(SP); \`, New: `\`,
		By:  kernel(2, "optimized/probes_below_a_handler_are_missed_exactly"),
		Why: "a jump in a handler is counted for a CPU that is not there",
	},
	{
		Name: "no-frame-above-the-trap-stack", In: "arch/amd64/trap.Layout",
		Old: "next-frameSize", New: "next",
		By:  host("arch/amd64/trap", "TestFrameAboveTheTrapStack"),
		Why: "the frame is in what package percpu gives out",
	},
	{
		Name: "trampoline-calls-one-handler-of-two", In: "kprobes.trampoline",
		Old: "CMPQ\tret_off(CX), R9\n\tJEQ\tother", New: "",
		By:  kernel(1, "optimized/return_probe_joined_by_others"),
		Why: "only one of several return probes on a function is called",
	},
	{
		Name: "overflow-lost-at-a-noted-entry", In: "kprobes.POPS",
		Old: "$0x7f,", New: "$0,",
		By:  kernel(1, "optimized/return_probes_leave_everything_alone"),
		Why: "the entry of a function with a return probe changes OF",
	},
	{
		Name: "instance-not-given-back-by-the-trampoline", In: "kprobes.trampoline",
		Old: "CMPXCHGQ\tDX, freeList_head(R9)\n\tJNE\tagain", New: "MOVQ\tDX, CX",
		By:  kernel(2, "returns/nmissed_is_exact"),
		Why: "after some calls there is no instance any more",
	},
	{
		Name: "trampoline-calls-a-handler-that-is-gone", In: "kprobes.trampoline",
		Old: "CMPL\tCX, $const_flagRegistered\n\tJNE\tother", New: "",
		By:  kernel(2, "returns/parked_call_outlives_its_probe"),
		Why: "a return handler is called when its module may be gone",
	},
}
