package mutants

// registering are defects in how probes come and go.
var registering = []Mutant{
	{
		Name: "slot-reused-at-once", File: "kprobes/point.go",
		Old: "func (pt *point) retire(since text.InUse) {\n\tif pt.Slot != 0 {\n",
		New: "type never struct{}\n\nfunc (never) Passed() bool { return true }\n\nfunc (pt *point) retire(since text.InUse) {\n\tif pt.Slot != 0 {\n\t\tmachine.This.Slots.Put(pt.Slot, never{}, nil)\n\t}\n\tif false {\n",
		By:  kernel(2, "grace/slot_is_not_reused_while_a_cpu_is_in_it"),
		Why: "a slot is given out again while a CPU that was interrupted in it has not come back",
	},
	{
		Name: "detour-reused-at-once", File: "kprobes/point.go",
		Old: "func (pt *point) retire(since text.InUse) {\n",
		New: "type never struct{}\n\nfunc (never) Passed() bool { return true }\n\nfunc (pt *point) retire(since text.InUse) {\n\tif pt.detour != nil {\n\t\tsince = never{}\n\t}\n",
		By:  kernel(2, "grace/detour_is_not_reused_while_a_cpu_is_in_it"),
		Why: "a detour is given out again while a CPU that was interrupted in it has not come back",
	},
	{
		Name: "pool-forgets-the-period", File: "kernel/text/pool.go",
		Old: "p.returned[n].since.Passed())", New: "!p.returned[n].since.Passed())",
		By:  host("kernel/text", "TestPoolReusesWhatIsOutOfUse"),
		Why: "pieces are given out while they are in use, and not afterwards",
	},
	{
		Name: "period-begins-before-the-disarming", File: "kprobes/attach.go",
		Old: "\t\tquiesce(written)\n\t\tforget(gone)\n",
		New: "\t\tforget(gone)\n\t\tquiesce(written)\n",
		By:  host("kprobes", "TestUnregisterWaits"),
		Why: "a CPU can still take the breakpoint, and enter the slot, when the period has begun",
	},
	{
		Name: "site-forgotten-before-the-disarming", File: "kprobes/attach.go",
		Old: "\t\tk.point.remove(k)\n\t\tgone = append(gone, k)\n",
		New: "\t\tk.point.remove(k)\n\t\tpoints.Remove(k.point.Addr)\n\t\tgone = append(gone, k)\n",
		By:  host("kprobes", "TestUnregisterWaits"),
		Why: "a hit that comes before the breakpoint is gone belongs to nobody",
	},
	{
		Name: "unregistering-does-not-wait", File: "kprobes/attach.go",
		Old: "\t\tquiesce(written)\n\t\tforget(gone)\n", New: "\t\t_ = written\n\t\tforget(gone)\n",
		By:  host("kprobes", "TestBreakpointComesLast"),
		Why: "a handler still runs when its probe has been unregistered, if others keep the breakpoint",
	},
	{
		Name: "disabling-does-not-wait", File: "kprobes/attach.go",
		Old: "len(written) > 0 || !on {", New: "len(written) > 0 && on {",
		By:  host("kprobes", "TestDisable"),
		Why: "a handler still runs when its probe has been disabled",
	},
	{
		Name: "handlers-not-waited-for", File: "kprobes/machine/machine.go",
		Old: "Each: []func(){m.Serialize}, ", New: "",
		By:  kernel(2, "kprobes/unregistering_one_of_two_waits_for_its_handler"),
		Why: "a handler still runs when its probe has been unregistered",
	},
	{
		Name: "handlers-of-jumps-not-waited-for", File: "kprobes/state_trap.go",
		Old: "st.busy() && atomic.LoadUint64(&st.soft) == hits; {\n", New: "st.busy() && hits == 1<<63; {\n",
		By:  kernel(2, "kprobes/unregistering_one_of_two_waits_for_its_handler"),
		Why: "a handler that a jump called, and which has interrupts on, still runs when its probe has been unregistered",
	},
	{
		Name: "poked-and-not-synchronized", File: "kprobes/arm.go",
		Old: "\tif len(written) > 0 {\n\t\tbehind", New: "\tif len(written) > 1<<20 {\n\t\tbehind",
		By:  host("kprobes", "TestBatch"),
		Why: "a CPU goes on executing what it has fetched before. QEMU does not: only the order of calls shows it",
	},
	{
		Name: "pending-code-not-waited-for", File: "kprobes/arm.go",
		Old: "\t\t} else if behind.Load() == 0 {\n", New: "\t\t} else {\n",
		By:  host("kprobes", "TestLinksTogether"),
		Why: "a second probe is registered while CPUs do not execute the breakpoint of the first yet",
	},
	{
		Name: "breakpoint-before-the-slot", File: "kprobes/point.go",
		Old: "\tpt.Slot = slot\n\tmachine.This.Write(slot, code)\n", New: "\tpt.Slot = slot\n\t_ = code\n",
		By:  host("kprobes", "TestBreakpointComesLast"),
		Why: "a hit executes what was in the slot before",
	},
	{
		Name: "middle-of-an-instruction", File: "kprobes/place/decoder.go",
		Old: "\t\tbegins[off] = true\n", New: "\t\tbegins[off], begins[min(off+1, len(begins)-1)] = true, true\n",
		By:  host("kprobes", "TestRegisterRefuses"),
		Why: "a breakpoint is put on the second byte of an instruction",
	},
	{
		Name: "refused-slot-not-given-back", File: "kprobes/point.go",
		Old: "\t\tslots.Put(slot, machine.This.Since(), nil)\n", New: "",
		By:  host("kprobes", "TestNoSlotWithinReach"),
		Why: "each refused registration takes a slot for good",
	},
	{
		Name: "batch-not-undone", File: "kprobes/attach.go",
		Old: "\t\t\tdetach(kept)\n", New: "",
		By:  kernel(1, "control/group_is_registered_whole_or_not_at_all"),
		Why: "what stood in front of the refused probe stays registered",
	},
	{
		Name: "breakpoint-of-others-taken-for-code", File: "kprobes/point.go",
		Old: "\t\tcase code[i] == insn.OpInt3:\n\t\t\tcode[i] = pt.Orig[0]\n", New: "",
		By:  host("kprobes", "TestProbesAreNotCode"),
		Why: "the copy of an instruction is a copy of a breakpoint",
	},
	{
		Name: "module-keeps-its-probes", File: "kprobes/attach.go",
		Old: "k.owner == name && k.Place == nil:", New: "k.owner == name && k.Place != nil:",
		By:  kernel(1, "control/module_that_forgets_its_probes"),
		Why: "handlers of a module that is gone are called",
	},
	{
		Name: "list-changed-in-place", File: "kernel/probe/list.go",
		Old: "\tlist := make([]*T, 0, len(all)+1)\n", New: "\tlist := all[:0]\n",
		By:  host("kernel/probe", "TestListIsReplaced"),
		Why: "a hit goes through a list that changes under it",
	},
	{
		Name: "blacklist-not-asked", File: "kprobes/point.go",
		Old: "\tif why := machine.This.Blacklisted(fn); why != \"\" {\n", New: "\tif why := machine.This.Blacklisted(fn); why != \"\" && fn.Size == 0 {\n",
		By:  host("kprobes", "TestRegisterRefuses"),
		Why: "what handles breakpoints gets one",
	},
	{
		Name: "registered-in-a-handler", File: "kprobes/register.go",
		Old: "\tif err := inHandler(); err != nil {\n\t\treturn err\n\t}\n\treturn register(kind, []", New: "\tif err := inHandler(); err != nil && kind != kindKprobe {\n\t\treturn err\n\t}\n\treturn register(kind, []",
		By:  host("kprobes", "TestInsideAHandler"),
		Why: "a handler waits for a lock that what it has interrupted holds",
	},
}
