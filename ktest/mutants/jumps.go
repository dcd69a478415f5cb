package mutants

// jumps are defects of the optimizer, and of the detours that it makes.
var jumps = []Mutant{
	{
		Name: "jump-without-a-grace-period", File: "optprobe/optimizer_tamago.go",
		Old: "\tgrace.Synchronize()\n\tfor len(list) > 0 {\n", New: "\tfor len(list) > 0 {\n",
		By:  kernel(2, "grace/jump_waits_for_a_cpu_that_will_come_back_into_the_region"),
		Why: "a CPU comes back from a slot into the middle of the jump",
	},
	{
		Name: "saved-ip-not-looked-at", File: "kprobes/machine/real_tamago.go",
		Old: "standing(uintptr(r.IP))", New: "standing(0*uintptr(r.IP))",
		By:  kernel(2, "grace/jump_is_not_written_under_a_cpu"),
		Why: "the jump is written under a CPU that goes on in its middle",
	},
	{
		Name: "region-ends-too-early", File: "kprobes/arm.go",
		Old: "ip < pt.Addr+insn.JumpSize {", New: "ip < pt.Addr+insn.JumpSize-1 {",
		By:  host("kprobes", "TestJumpRetries"),
		Why: "a CPU before the last byte of the jump is not seen",
	},
	{
		Name: "region-begins-too-late", File: "kprobes/arm.go",
		Old: "if ip > pt.Addr && ip <", New: "if ip > pt.Addr+1 && ip <",
		By:  host("kprobes", "TestJumpRetries"),
		Why: "a CPU at the second byte of the jump is not seen",
	},
	{
		Name: "region-begins-too-early", File: "kprobes/arm.go",
		Old: "if ip > pt.Addr && ip <", New: "if ip >= pt.Addr && ip <",
		By:  host("kprobes", "TestJumpRetries"),
		Why: "a CPU that would simply take the jump keeps it from being written",
	},
	{
		Name: "branch-into-the-region-not-seen", File: "optprobe/region.go",
		Old: "\t\tif at > off {\n", New: "\t\tif at > off+1 {\n",
		By:  host("optprobe", "TestRegions"),
		Why: "something leads to the second byte of the jump",
	},
	{
		Name: "region-one-byte-short", File: "optprobe/region.go",
		Old: "\tfor at := off; at < off+JumpSize; at++ {\n", New: "\tfor at := off; at < off+JumpSize-1; at++ {\n",
		By:  host("optprobe", "TestRegions"),
		Why: "the jump replaces a byte that nobody has looked at",
	},
	{
		Name: "jump-tables-not-read", File: "optprobe/region.go",
		Old: "{byTable, TableEntry}, ", New: "",
		By:  host("optprobe", "TestRegions"),
		Why: "a switch leads into the middle of the jump",
	},
	{
		Name: "neighbour-does-not-take-the-jump-out", File: "kprobes/attach.go",
		Old: "\tunjumpAround(addr)\n", New: "",
		By:  host("kprobes", "TestJumpGivesWay"),
		Why: "a probe in the region is never hit, or its breakpoint is written into the jump",
	},
	{
		Name: "neighbour-on-the-last-byte-not-seen", File: "kprobes/point.go",
		Old: "\tfor off := uintptr(1); off < pt.detour.Len; off++ {\n", New: "\tfor off := uintptr(1); off < 3; off++ {\n",
		By:  host("kprobes", "TestJumpGivesWay"),
		Why: "a probe in the region is passed by in the detour's copy",
	},
	{
		Name: "post-handler-under-a-jump", File: "kprobes/attach.go",
		Old: "\tif k.wantsPost() || !k.jumpable() {\n", New: "\tif !k.jumpable() {\n",
		By:  host("kprobes", "TestJumpGivesWay"),
		Why: "a post-handler is not called while there is a jump",
	},
	{
		Name: "stale-candidate", File: "kprobes/jump.go",
		Old: "pt.turn == c.turn && ", New: "",
		By:  host("kprobes", "TestJumpGivesWay"),
		Why: "hits have been in the slot since the last grace period",
	},
	{
		Name: "jumps-although-switched-off", File: "kprobes/jump.go",
		Old: "\tif noJumps || len(list) == 0 {\n", New: "\tif len(list) == 0 {\n",
		By:  host("kprobes", "TestSetJumps"),
		Why: "an optimizer that began before writes jumps although the sysctl is 0 now",
	},
	{
		Name: "jump-leads-past-the-entry", File: "kprobes/arm.go",
		Old: "uint64(pt.detour.Entry))", New: "uint64(pt.detour.Resume))",
		By:  host("kprobes", "TestJumpIn"),
		Why: "the handlers are not called",
	},
	{
		Name: "call-through-the-stack", File: "optprobe/relocate.go",
		Old: "\t\tdisp := m.Disp + 8\n", New: "\t\tdisp := m.Disp\n",
		By:  host("optprobe", "TestCopiesDoTheSame"),
		Why: "a call through memory on the stack, which the copy makes with SP 8 less, goes elsewhere",
	},
	{
		Name: "fault-in-a-detour-shown-there", File: "optprobe/detour_tamago.go",
		Old: "\t\treturn uintptr(at.IP)\n", New: "\t\treturn ip + 0*uintptr(at.IP)\n",
		By:  kernel(1, "optimized/fault_in_a_copy_is_the_functions"),
		Why: "an address in a detour is shown as it is",
	},
}
