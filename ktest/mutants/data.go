package mutants

// The data of calls of programs, their entry handlers, and how many there may be.
var callData = []Mutant{
	{
		Name: "data-of-the-call-before", In: "uprobes.callEntries",
		Old: "i] = 0", New: "i] += 0",
		By:  program(2, "uprobes/data_of_two_probes_at_one_function", "probed"),
		Why: "a call begins with the data of another one",
	},
	{
		Name: "declined-call-noted-in-trap", In: "uprobes.callEntries",
		Old: ", r) {", New: ", r) || true {",
		By:  program(2, "uprobes/entry_declines_in_trap", "probed"),
		Why: "the handler is called for calls that the entry handler has declined",
	},
	{
		Name: "any-number-of-calls", In: "uprobes.(*member).beyond",
		Old: "most }", New: "most+1 }",
		By:  program(2, "uprobes/calls_beyond_max_active_are_missed", "probed"),
		Why: "more calls are in progress than MaxActive",
	},
	{
		Name: "stuck-entry-handler-in-flight", In: "uprobes.(*state).abandons",
		Old: "callsGoReturns:\n\t\tm.Count(ledger.Abandoned)\n\tcase callsEntries, ", New: "callsGoReturns, callsEntries:\n\t\tm.Count(ledger.Abandoned)\n\tcase ",
		By:  host("uprobes", "TestEntryHandlerThatPanics"),
		Why: "a call whose entry handler did not return is in progress for ever",
	},
	{
		Name: "go-call-at-a-fixed-address", In: "uprobes.(*thread).hold",
		Old: "sp - hi", New: "sp",
		By:  program(2, "uprobes/go_data_while_stacks_grow", "gothreads"),
		Why: "calls of a goroutine whose stack has moved are not found",
	},
	{
		Name: "go-calls-that-a-panic-skips", In: "uprobes.(*callList).returnsTo",
		Old: "leave()\n\t\tc.", New: "",
		By:  program(2, "uprobes/go_data_of_calls_that_panic", "gothreads"),
		Why: "calls that a panic has skipped are in progress for ever",
	},
}
