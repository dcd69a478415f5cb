package mutants

// userprobes are more defects in user probes: how they are enabled, how their instructions
// get done, and which calls return.
var userprobes = []Mutant{
	{
		Name: "handler-of-an-unregistered-user-probe", File: "uprobes/member.go",
		Old: "return !m.flags.Has(unregistered | abandoned)", New: "return !m.flags.Has(abandoned)",
		By:  host("uprobes", "TestCallReturnsAfterUnregistering"),
		Why: "a return handler is called when its probe has been unregistered",
	},
	{
		Name: "user-breakpoint-taken-from-others", File: "uprobes/enable.go",
		Old: "\tif pt.armed && !pt.wanted() {\n", New: "\tif pt.armed {\n",
		By:  host("uprobes", "TestDisable"),
		Why: "disabling one of two probes takes the breakpoint of both",
	},
	{
		Name: "disabled-user-probe-called", File: "uprobes/hit.go",
		Old: "return m.enter() && !m.flags.Has(disabled)", New: "return m.enter()",
		By:  host("uprobes", "TestDisable"),
		Why: "a handler of a disabled probe is called while another probe keeps the breakpoint",
	},
	{
		Name: "enabled-without-a-breakpoint", File: "uprobes/enable.go",
		Old: "\t\tif err := x.arm(m.point); err != nil {\n\t\t\treturn err\n\t\t}\n", New: "\t\tx.arm(m.point)\n",
		By:  host("uprobes", "TestEnableFailsWhole"),
		Why: "a probe whose text is gone counts as enabled",
	},
	{
		Name: "enabled-although-all-are-off", File: "uprobes/enable.go",
		Old: "\tif !allOff {\n\t\tif err := x.arm(m.point)", New: "\tif true {\n\t\tif err := x.arm(m.point)",
		By:  host("uprobes", "TestSetEnabled"),
		Why: "enabling a probe puts a breakpoint in while all are switched off",
	},
	{
		Name: "registered-although-all-are-off", File: "uprobes/register.go",
		Old: "\t\ttk.text.disarmUnwanted(m.point)\n", New: "",
		By:  host("uprobes", "TestSetEnabled"),
		Why: "registering a probe puts a breakpoint in while all are switched off",
	},
	{
		Name: "slot-of-other-code", File: "uprobes/state.go",
		Old: "old != nil && old.plan.Code == plan.Code", New: "old != nil",
		By:  host("uprobes", "TestSlotOfOtherCode"),
		Why: "the copy is executed of what was at the place before",
	},
	{
		Name: "slot-given-twice", File: "uprobes/slot.go",
		Old: "\ts.page.next++\n", New: "",
		By:  host("uprobes", "TestChildUsesItsParentsSlots"),
		Why: "two instructions have one slot",
	},
	{
		Name: "no-room-is-no-error", File: "uprobes/slot.go",
		Old: "\terr := errFull\n", New: "\tvar err error\n",
		By:  host("uprobes", "TestWithoutASlot"),
		Why: "a copy is to run at address 0 when there is no room for slots",
	},
	{
		Name: "post-handler-of-a-boosted-instruction", File: "uprobes/execute.go",
		Old: "(dueDB || th.after != nil)", New: "dueDB",
		By:  host("uprobes", "TestPostHandlerOfACopy"),
		Why: "a post-handler is not called when the instruction runs as a copy",
	},
	{
		Name: "program-that-steps-boosted", File: "uprobes/execute.go",
		Old: "(dueDB || th.after != nil)", New: "th.after != nil",
		By:  host("uprobes", "TestRepeatedInstructionOfAProgramThatSteps"),
		Why: "each round of a repeated instruction is a hit when the program steps itself",
	},
	{
		Name: "interrupted-instruction-hit-twice", File: "uprobes/hit.go",
		Old: "if th.again.ip != 0 && th.goesOn(pt) {", New: "if false && th.goesOn(pt) {",
		By:  host("uprobes", "TestSignalInARepeatedInstruction"),
		Why: "what is left of an instruction that a signal has interrupted is one more hit",
	},
	{
		Name: "other-instruction-taken-for-the-interrupted", File: "uprobes/hit.go",
		Old: "again := th.again == moment{r.IP, r.SP}", New: "again := th.again.ip == r.IP",
		By:  host("uprobes", "TestSignalInARepeatedInstruction"),
		Why: "the same instruction, executed by the handler of that signal, is no hit",
	},
	{
		Name: "point-in-a-stack-check-passed", File: "uprobes/hit.go",
		Old: "\tfor i := uintptr(1); i < uintptr(pt.check.Len); i++ {", New: "\tfor i := uintptr(1); i < 0*uintptr(pt.check.Len); i++ {",
		By:  host("uprobes", "TestPointInAStackCheck"),
		Why: "a probe inside of what a Go function begins with is passed by",
	},
	{
		Name: "instances-behind-one-that-hangs", File: "uprobes/member.go",
		Old: "\t\tc.of = c.of[c.next:]\n", New: "\t\tc.of = c.of[:0]\n",
		By:  host("uprobes", "TestReturnHandlerThatDoesNotReturn"),
		Why: "of several return probes, those behind a handler that does not return lose their call without a trace",
	},
	{
		Name: "registered-twice", File: "uprobes/register.go",
		Old: "m != nil && !m.flags.Has(unregistered) || slices.Contains(files, f)", New: "m == nil && f != nil",
		By:  host("uprobes", "TestRegisteredTwice"),
		Why: "a probe that is registered can be registered once more",
	},
	{
		Name: "interrupted-trampoline-loses-stack", File: "uprobes/place/trampoline.go",
		Old: "var Pushed = [len(Trampoline)]uint64{1: 8, 3: PushedAll}", New: "var Pushed = [len(Trampoline)]uint64{1: 8, 3: PushedAll, 0: 0}\n\nfunc init() { Pushed[1] = 0 }",
		By:  host("uprobes", "TestInterruptedTrampoline"),
		Why: "a signal in the trampoline shifts the stack of the program",
	},
	{
		Name: "vfork-child-not-told", File: "uprobes/state.go",
		Old: "\tif tk.text.users == 1 {\n\t\ttk.text.sharers()\n\t}\n", New: "",
		By:  host("uprobes", "TestChildOfVforkMeetsLaterBreakpoints"),
		Why: "a child of vfork is killed by a breakpoint that its parent gets",
	},
	{
		Name: "handler-that-jumps-is-not-obeyed", File: "uprobes/hit.go",
		Old: "if th.wants == 0 && !decided && r.IP == uint64(pt.addr) {", New: "if th.wants == 0 && !decided {",
		By:  host("uprobes", "TestHandlerTakesOver"),
		Why: "the instruction is executed although a handler has set IP",
	},
	{
		Name: "popf-loses-TF", File: "uprobes/place/slot.go",
		Old: "if !p.In.IsPopf() && p.In.Flow != insn.Iret {", New: "if true {",
		By:  host("uprobes/place", "TestThereAndBack"),
		Why: "TF is not set by a stepped POPF",
	},
	{
		Name: "repeated-copy-cut-short", File: "uprobes/place/slot.go",
		Old: "\t\tif p.In.IsRep() {\n\t\t\treturn false\n\t\t}\n", New: "",
		By:  host("uprobes/place", "TestThereAndBack"),
		Why: "of a repeated instruction one round is made",
	},
	{
		Name: "ip-behind-a-copy-not-told", File: "uprobes/place/slot.go",
		Old: "\tcase uint64(p.In.Len):\n\t\treturn p.Next(), true\n", New: "",
		By:  host("uprobes/place", "TestThereAndBack"),
		Why: "behind a step the program goes on in the slot",
	},
	{
		Name: "spare-register-not-given-back", File: "uprobes/place/slot.go",
		Old: "\t\t*r.Register(p.spare()) = s.spare\n", New: "\t\t_ = s.spare\n",
		By:  host("uprobes/place", "TestThereAndBack"),
		Why: "a copy far away from its operand changes a register",
	},
	{
		Name: "spare-register-in-use", File: "uprobes/place/spare.go",
		Old: "in.Reg() != reg && p.vvvv() != reg", New: "in.Reg() != reg",
		By:  host("uprobes/place", "TestSlot"),
		Why: "a copy addresses its operand by a register that it uses",
	},
	{
		Name: "emulated-before-boosted", File: "uprobes/place/place.go",
		Old: "\tBoost       // the copy in the slot runs, and jumps back\n\tEmulate     // on the saved registers and the program's memory\n", New: "\tEmulate     // on the saved registers and the program's memory\n\tBoost       // the copy in the slot runs, and jumps back\n",
		By:  host("uprobes/place", "TestWays"),
		Why: "PUSHF takes hundreds of instructions instead of two",
	},
	{
		Name: "breakpoint-by-two-bytes-probed", File: "uprobes/place/decide.go",
		Old: "in.Opcode == 0xCD && in.Imm() != 3", New: "in.Opcode == 0xCD",
		By:  host("uprobes/place", "TestRefused"),
		Why: "another debugger's CD 03 is executed in a slot",
	},
}
