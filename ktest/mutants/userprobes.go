package mutants

// userprobes are more defects in user probes: how they are enabled, how their instructions
// get done, and which calls return.
var userprobes = []Mutant{
	{
		Name: "handler-of-an-unregistered-user-probe", In: "uprobes.(*thread).starts",
		Old: "Has(f)", New: "Has(f &^ unregistered)",
		By:  host("uprobes", "TestCallReturnsAfterUnregistering"),
		Why: "a return handler is called when its probe has been unregistered",
	},
	{
		Name: "user-breakpoint-taken-from-others", In: "uprobes.(*text).disarmUnwanted",
		Old: "&& !pt.wanted() ", New: "",
		By:  host("uprobes", "TestDisable"),
		Why: "disabling one of two probes takes the breakpoint of both",
	},
	{
		Name: "disabled-user-probe-called", In: "uprobes.callHandlers",
		Old: "starts(m, unregistered|abandoned|disabled)", New: "starts(m, unregistered|abandoned)",
		By:  host("uprobes", "TestDisable"),
		Why: "a handler of a disabled probe is called while another probe keeps the breakpoint",
	},
	{
		Name: "enabled-without-a-breakpoint", In: "uprobes.(*member).enable",
		Old: "if err := x.arm(m.point); err != nil {\n\t\t\treturn err\n\t\t}", New: "x.arm(m.point)",
		By:  host("uprobes", "TestEnableFailsWhole"),
		Why: "a probe whose text is gone counts as enabled",
	},
	{
		Name: "enabled-although-all-are-off", In: "uprobes.(*member).enable",
		Old: "!allOff", New: "true",
		By:  host("uprobes", "TestSetEnabled"),
		Why: "enabling a probe puts a breakpoint in while all are switched off",
	},
	{
		Name: "registered-although-all-are-off", In: "uprobes.(*task).list",
		Old: "tk.text.disarmUnwanted(m.point)", New: "",
		By:  host("uprobes", "TestSetEnabled"),
		Why: "registering a probe puts a breakpoint in while all are switched off",
	},
	{
		Name: "slot-of-other-code", In: "uprobes.(*text).prepare",
		Old: " && old.plan.Code == plan.Code", New: "",
		By:  host("uprobes", "TestSlotOfOtherCode"),
		Why: "the copy is executed of what was at the place before",
	},
	{
		Name: "slot-given-twice", In: "uprobes.(*text).fill",
		Old: "s.page.next++", New: "",
		By:  host("uprobes", "TestChildUsesItsParentsSlots"),
		Why: "two instructions have one slot",
	},
	{
		Name: "no-room-is-no-error", In: "uprobes.(*text).place",
		Old: "err := errFull", New: "var err error",
		By:  host("uprobes", "TestWithoutASlot"),
		Why: "a copy is to run at address 0 when there is no room for slots",
	},
	{
		Name: "post-handler-of-a-boosted-instruction", In: "uprobes.(*thread).execute",
		Old: "(dueDB || th.after != nil)", New: "dueDB",
		By:  host("uprobes", "TestPostHandlerOfACopy"),
		Why: "a post-handler is not called when the instruction runs as a copy",
	},
	{
		Name: "program-that-steps-boosted", In: "uprobes.(*thread).execute",
		Old: "(dueDB || th.after != nil)", New: "th.after != nil",
		By:  host("uprobes", "TestRepeatedInstructionOfAProgramThatSteps"),
		Why: "each round of a repeated instruction is a hit when the program steps itself",
	},
	{
		Name: "interrupted-instruction-hit-twice", In: "uprobes.(*thread).hit",
		Old: "th.again.ip != 0", New: "false",
		By:  host("uprobes", "TestSignalInARepeatedInstruction"),
		Why: "what is left of an instruction that a signal has interrupted is one more hit",
	},
	{
		Name: "other-instruction-taken-for-the-interrupted", In: "uprobes.(*thread).goesOn",
		Old: " == moment{r.IP, r.SP}", New: ".ip == r.IP",
		By:  host("uprobes", "TestSignalInARepeatedInstruction"),
		Why: "the same instruction, executed by the handler of that signal, is no hit",
	},
	{
		Name: "point-in-a-stack-check-passed", In: "uprobes.(*text).crowded",
		Old: "); i < ", New: "); i < 0*",
		By:  host("uprobes", "TestPointInAStackCheck"),
		Why: "a probe inside of what a Go function begins with is passed by",
	},
	{
		Name: "instances-behind-one-that-hangs", In: "uprobes.(*member).leaveBehind",
		Old: "th.own.at:", New: ":0",
		By:  host("uprobes", "TestReturnHandlerThatDoesNotReturn"),
		Why: "of several return probes, those behind a handler that does not return lose their call without a trace",
	},
	{
		Name: "registered-twice", In: "uprobes.order.taken",
		Old: "!= nil && !m.flags.Has(unregistered) || slices.Contains(files, f)", New: "== nil && f != nil",
		By:  host("uprobes", "TestRegisteredTwice"),
		Why: "a probe that is registered can be registered once more",
	},
	{
		Name: "interrupted-trampoline-loses-stack", In: "uprobes/place.Pushed",
		Old: "PushedAll", New: "PushedAll, 0: 0}\n\nfunc init() { Pushed[1] = 0 ",
		By:  host("uprobes", "TestInterruptedTrampoline"),
		Why: "a signal in the trampoline shifts the stack of the program",
	},
	{
		Name: "vfork-child-not-told", In: "uprobes.join",
		Old: "if tk.text.users == 1 {\n\t\ttk.text.sharers()\n\t}", New: "",
		By:  host("uprobes", "TestChildOfVforkMeetsLaterBreakpoints"),
		Why: "a child of vfork is killed by a breakpoint that its parent gets",
	},
	{
		Name: "handler-that-jumps-is-not-obeyed", In: "uprobes.(*thread).hit",
		Old: "|| r.IP != uint64(pt.addr)", New: "",
		By:  host("uprobes", "TestHandlerTakesOver"),
		Why: "the instruction is executed although a handler has set IP",
	},
	{
		Name: "popf-loses-TF", In: "uprobes/place.(*Plan).After",
		Old: "!p.In.IsPopf() && p.In.Flow != insn.Iret", New: "true",
		By:  host("uprobes/place", "TestThereAndBack"),
		Why: "TF is not set by a stepped POPF",
	},
	{
		Name: "repeated-copy-cut-short", In: "uprobes/place.(*Plan).After",
		Old: "if p.In.IsRep() {\n\t\t\treturn false\n\t\t}", New: "",
		By:  host("uprobes/place", "TestThereAndBack"),
		Why: "of a repeated instruction one round is made",
	},
	{
		Name: "ip-behind-a-copy-not-told", In: "uprobes/place.(*Plan).Back",
		Old: "case uint64(p.In.Len):\n\t\treturn p.Next(), true", New: "",
		By:  host("uprobes/place", "TestThereAndBack"),
		Why: "behind a step the program goes on in the slot",
	},
	{
		Name: "spare-register-not-given-back", In: "uprobes/place.(*Plan).restoreSpare",
		Old: "*r.Register(p.spare())", New: "_",
		By:  host("uprobes/place", "TestThereAndBack"),
		Why: "a copy far away from its operand changes a register",
	},
	{
		Name: "spare-register-in-use", In: "uprobes/place.(*Plan).spare",
		Old: " && p.vvvv() != reg", New: "",
		By:  host("uprobes/place", "TestSlot"),
		Why: "a copy addresses its operand by a register that it uses",
	},
	{
		Name: "emulated-before-boosted", In: "uprobes/place.Way",
		Old: "Boost       // the copy in the slot runs, and jumps back\n\tEmulate     // on the saved registers and the program's memory", New: "Emulate     // on the saved registers and the program's memory\n\tBoost       // the copy in the slot runs, and jumps back",
		By:  host("uprobes/place", "TestWays"),
		Why: "PUSHF takes hundreds of instructions instead of two",
	},
	{
		Name: "breakpoint-by-two-bytes-probed", In: "uprobes/place.(*Plan).decide",
		Old: " && in.Imm() != 3", New: "",
		By:  host("uprobes/place", "TestRefused"),
		Why: "another debugger's CD 03 is executed in a slot",
	},
}
