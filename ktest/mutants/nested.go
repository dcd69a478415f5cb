package mutants

// nested are defects in what happens within handlers: hits, returns and faults there, and handlers
// that are abandoned.
var nested = []Mutant{
	{
		Name: "handler-ended-within-a-hit-on-top-of-it", In: "probe/handler.(*State).canEnd",
		Old: "at < s.Frame", New: "at == 1",
		By:  kernel(2, "watch/probes_in_a_watch_handler_that_loops"),
		Why: "when a watchpoint's handler that hits probes is ended, its CPU misses all later hits of probes",
	},
	{
		Name: "second-handler-of-a-return-not-called", In: "kprobes.(*state).afterReturn",
		Old: "if *head != 0 && asInstance(*head).off == hi-uintptr(r.SP)+8 {\n\t\tonReturn(r)\n\t}", New: "_ = hi",
		By:  kernel(1, "returns/several_probes_on_one_function"),
		Why: "only the last of several return probes on a function is called, and the call returns to the trampoline again",
	},
	{
		Name: "fault-of-an-interrupt-blamed", In: "kprobes.onFault",
		Old: "= 0 && ", New: "= 0 && st.phase == idle && ",
		By:  kernel(1, "handlers/fault_of_an_interrupt_on_top_of_one"),
		Why: "a handler is abandoned for what an interrupt does",
	},
	{
		Name: "fault-handler-not-asked-about-an-emulation", In: "kprobes.(*state).emulationFault",
		Old: "!pt.fixedUp(st, r", New: "pt.NeedsSlot() || !pt.NeedsSlot(",
		By:  kernel(1, "handlers/fault_handler_is_asked_however_it_is_executed"),
		Why: "a fault-handler is not called when the instruction is emulated",
	},
	{
		Name: "fixed-up-fault-goes-on-in-the-copy", In: "kprobes.(*point).afterFault",
		Old: "if mm.Slots.Contains(uintptr(r.IP)) {\n\t\tr.IP = uint64(pt.Addr)\n\t}", New: "",
		By:  kernel(1, "handlers/fault_handler_fixes_the_stepped_copy"),
		Why: "behind a fault that was dealt with the program goes on in the slot",
	},
	{
		Name: "disabled-probe-called", In: "kprobes.(*Kprobe).callSpecial",
		Old: "if k.Flags.Has(flagOff) {\n\t\tk.ledger.Count(id, ledger.Disarmed)\n\t\treturn false\n\t}", New: "",
		By:  kernel(1, "kprobes/disabled_is_not_called"),
		Why: "a handler of a disabled probe is called while another probe keeps the breakpoint",
	},
	{
		Name: "disabled-hit-not-counted", In: "kprobes.(*Kprobe).callSpecial",
		Old: "k.ledger.Count(id, ledger.Disarmed)", New: "",
		By:  kernel(1, "kprobes/disabled_is_not_called"),
		Why: "a hit of a disabled probe is lost without a trace",
	},
}
