package mutants

// The data of calls of programs, their entry handlers, and how many there may be.
var callData = []Mutant{
	{
		Name: "data-of-the-call-before", File: "uprobes/return.go",
		Old: "\tclear(in.Data)\n", New: "",
		By:  program(2, "uprobes/data_of_two_probes_at_one_function", "probed"),
		Why: "a call begins with the data of another one",
	},
	{
		Name: "data-of-the-call-before-in-trap", File: "uprobes/calls_trap.go",
		Old: "\t\t\tin.Data[i] = 0\n", New: "\t\t\tin.Data[i] += 0\n",
		By:  program(2, "uprobes/data_of_two_probes_at_one_function_in_trap", "probed"),
		Why: "a call that is noted in trap context begins with the data of another one",
	},
	{
		Name: "declined-call-noted-in-trap", File: "uprobes/calls_trap.go",
		Old: "\t\tif m.ret.EntryHandler == nil || st.wants(m, in, r) {\n", New: "\t\tif m.ret.EntryHandler == nil || st.wants(m, in, r) || true {\n",
		By:  program(2, "uprobes/entry_declines_in_trap", "probed"),
		Why: "the handler is called for calls that the entry handler has declined",
	},
	{
		Name: "any-number-of-calls", File: "uprobes/return.go",
		Old: "m.most != 0 && n > m.most }", New: "m.most != 0 && n > m.most+1 }",
		By:  program(2, "uprobes/calls_beyond_max_active_are_missed", "probed"),
		Why: "more calls are in progress than MaxActive",
	},
	{
		Name: "stuck-entry-handler-in-flight", File: "uprobes/member.go",
		Old: "\tif th.entering {\n\t\tm.Flying.Add(-1)\n\t}\n", New: "",
		By:  program(2, "uprobes/killed_in_an_entry_handler", "probed"),
		Why: "a call whose entry handler did not return is in progress for ever",
	},
	{
		Name: "go-call-at-a-fixed-address", File: "uprobes/gocalls.go",
		Old: "\treturn sp - hi, true\n", New: "\treturn sp, true\n",
		By:  program(2, "uprobes/go_data_while_stacks_grow", "gothreads"),
		Why: "calls of a goroutine whose stack has moved are not found",
	},
	{
		Name: "go-calls-that-a-panic-skips", File: "uprobes/gocalls.go",
		Old: "\t\tc.leave()\n\t\tc.of = c.of[:0]\n\t\tcs.stack", New: "\t\tc.of = c.of[:0]\n\t\tcs.stack",
		By:  program(2, "uprobes/go_data_of_calls_that_panic", "gothreads"),
		Why: "calls that a panic has skipped are in progress for ever",
	},
}
