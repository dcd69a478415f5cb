package mutants

// assembly are defects in what is written out in assembly, beside the Go functions that do
// the same.
var assembly = []Mutant{
	{
		Name: "detour-takes-a-nested-hit-for-a-new-one", In: "kprobes.detour",
		Old: "CMPL\tstate_phase(SI), $const_idle\n\tJNE\tslow", New: "",
		By:  kernel(1, "optimized/probes_below_a_handler_are_missed_exactly"),
		Why: "a jump inside a handler calls another one",
	},
	{
		Name: "detour-does-not-count-its-handler", In: "kprobes.detour",
		Old: "INCQ\t(const_accountN+8*const_handled)(R8)", New: "",
		By:  kernel(1, "optimized/jump_goes_in_and_out"),
		Why: "hits by a jump are entered and not handled",
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
