package mutants

// jumps are defects of the optimizer, and of the detours that it makes.
var jumps = []Mutant{
	{
		Name: "jump-without-a-grace-period", In: "optprobe.jump",
		Old: "grace.Synchronize()", New: "",
		By:  kernel(2, "grace/jump_waits_for_a_cpu_that_will_come_back_into_the_region"),
		Why: "a CPU comes back from a slot into the middle of the jump",
	},
	{
		Name: "saved-ip-not-looked-at", In: "kprobes/machine.swapStopped",
		Old: "uintptr(", New: "0*uintptr(",
		By:  kernel(2, "grace/jump_is_not_written_under_a_cpu"),
		Why: "the jump is written under a CPU that goes on in its middle",
	},
	{
		Name: "region-ends-too-early", In: "kprobes.(*point).stands",
		Old: "JumpSize", New: "JumpSize-1",
		By:  host("kprobes", "TestJumpRetries"),
		Why: "a CPU before the last byte of the jump is not seen",
	},
	{
		Name: "region-begins-too-late", In: "kprobes.(*point).stands",
		Old: "Addr &", New: "Addr+1 &",
		By:  host("kprobes", "TestJumpRetries"),
		Why: "a CPU at the second byte of the jump is not seen",
	},
	{
		Name: "region-begins-too-early", In: "kprobes.(*point).stands",
		Old: "ip > pt", New: "ip >= pt",
		By:  host("kprobes", "TestJumpRetries"),
		Why: "a CPU that would simply take the jump keeps it from being written",
	},
	{
		Name: "branch-into-the-region-not-seen", In: "optprobe.(*Scan).Explain",
		Old: "> off {", New: "> off+1 {",
		By:  host("optprobe", "TestRegions"),
		Why: "something leads to the second byte of the jump",
	},
	{
		Name: "region-one-byte-short", In: "optprobe.(*Scan).Explain",
		Old: "; at++", New: "-1; at++",
		By:  host("optprobe", "TestRegions"),
		Why: "the jump replaces a byte that nobody has looked at",
	},
	{
		Name: "jump-tables-not-read", In: "optprobe.wayReasons",
		Old: "{byTable, TableEntry}, ", New: "",
		By:  host("optprobe", "TestRegions"),
		Why: "a switch leads into the middle of the jump",
	},
	{
		Name: "neighbour-does-not-take-the-jump-out", In: "kprobes.(*Kprobe).attach",
		Old: "unjumpAround(addr)", New: "",
		By:  host("kprobes", "TestJumpGivesWay"),
		Why: "a probe in the region is never hit, or its breakpoint is written into the jump",
	},
	{
		Name: "neighbour-on-the-last-byte-not-seen", In: "kprobes.(*point).crowded",
		Old: "pt.detour.Len", New: "3",
		By:  host("kprobes", "TestJumpGivesWay"),
		Why: "a probe in the region is passed by in the detour's copy",
	},
	{
		Name: "post-handler-under-a-jump", In: "kprobes.(*Kprobe).attach",
		Old: "k.wantsPost() || ", New: "",
		By:  host("kprobes", "TestJumpGivesWay"),
		Why: "a post-handler is not called while there is a jump",
	},
	{
		Name: "stale-candidate", In: "kprobes.Jump",
		Old: "pt.turn == c.turn && ", New: "",
		By:  host("kprobes", "TestJumpGivesWay"),
		Why: "hits have been in the slot since the last grace period",
	},
	{
		Name: "jumps-although-switched-off", In: "kprobes.Jump",
		Old: "noJumps || ", New: "",
		By:  host("kprobes", "TestSetJumps"),
		Why: "an optimizer that began before writes jumps although the sysctl is 0 now",
	},
	{
		Name: "jump-leads-past-the-entry", In: "kprobes.(*point).bytes",
		Old: "Entry)", New: "Resume)",
		By:  host("kprobes", "TestJumpIn"),
		Why: "the handlers are not called",
	},
	{
		Name: "call-through-the-stack", In: "optprobe.(*writer).callThrough",
		Old: "Disp + 8", New: "Disp",
		By:  host("optprobe", "TestCopiesDoTheSame"),
		Why: "a call through memory on the stack, which the copy makes with SP 8 less, goes elsewhere",
	},
	{
		Name: "fault-in-a-detour-shown-there", In: "optprobe.(*plan).original",
		Old: "uintptr(", New: "ip + 0*uintptr(",
		By:  kernel(1, "optimized/fault_in_a_copy_is_the_functions"),
		Why: "an address in a detour is shown as it is",
	},
}
