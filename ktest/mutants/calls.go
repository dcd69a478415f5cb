package mutants

// calls are defects in which calls of a program's functions return, and where to.
var calls = []Mutant{
	{
		Name: "call-not-forgotten", File: "uprobes/calls.go",
		Old: "func (cs *callList) forget() {\n\tfor i := range cs.stack {\n\t\tcs.stack[i].leave()\n\t}\n", New: "func (cs *callList) forget() {\n",
		By:  host("uprobes", "TestCallsOfAThreadThatEnds"),
		Why: "calls of a thread that has ended are in flight for ever",
	},
	{
		Name: "calls-below-not-left", File: "uprobes/calls.go",
		Old: "\tcs.leave(slot)\n\tif c := cs.last(slot); c != nil", New: "\tif c := cs.last(slot); c != nil",
		By:  host("uprobes", "TestLongjmp"),
		Why: "a call is not found when longjmp has gone past others to it",
	},
	{
		Name: "calls-that-do-not-return-kept", File: "uprobes/return.go",
		Old: "if len(cs.stack)+cs.nleft >= manyCalls {", New: "if len(cs.stack)+cs.nleft < 0 {",
		By:  host("uprobes", "TestStacksThatAreGone"),
		Why: "calls on stacks that are gone are in flight for ever",
	},
	{
		Name: "child-cannot-return", File: "uprobes/life.go",
		Old: ", calls: th.bequeath(mem)}", New: "}",
		By:  host("uprobes", "TestChildReturns"),
		Why: "a child that was forked in a probed call dies when it returns",
	},
	{
		Name: "calls-without-a-bound", File: "uprobes/calls.go",
		Old: "noted.Add(int64(more)) <= mostCalls", New: "noted.Add(int64(more)) > 0",
		By:  host("uprobes", "TestMoreCallsThanMayBeNoted"),
		Why: "a program that calls a probed function in itself without an end takes all of the kernel's memory",
	},
	{
		Name: "child-with-probes-of-its-parent", File: "uprobes/calls.go",
		Old: "child.stack = append(child.stack, call{slot: c.slot, ret: c.ret})", New: "child.stack = append(child.stack, *c)",
		By:  host("uprobes", "TestChildReturns"),
		Why: "a call in the child is reported to the parent's probes",
	},
	{
		Name: "coroutine-counted-as-left", File: "uprobes/calls.go",
		Old: "\tc.undoLeave()\n", New: "",
		By:  host("uprobes", "TestCallsThatAreLeft"),
		Why: "a call that returns late is counted as abandoned and as handled",
	},
	{
		Name: "handler-sees-the-trampoline", File: "uprobes/return.go",
		Old: "if r.IP = c.ret; r.IP == tramp {", New: "if r.IP = c.ret; false {",
		By:  host("uprobes", "TestTailCall"),
		Why: "while its handler runs, the program is in the trampoline",
	},
	{
		Name: "left-calls-counted-late", File: "uprobes/calls.go",
		Old: "\tcs.leave(slot)\n\tif holds {", New: "\tif holds {",
		By:  host("uprobes", "TestCallsThatAreLeft"),
		Why: "calls that longjmp has left are taken for calls in flight",
	},
	{
		Name: "slot-of-a-left-call", File: "uprobes/calls.go",
		Old: "\tfor cs.left[slot] != nil {\n\t\tcs.takeLeft(slot)\n\t}\n}\n", New: "}\n",
		By:  host("uprobes", "TestNothingIsKeptOfALeftCall"),
		Why: "a call that longjmp has left is kept for as long as its slot is in use",
	},
	{
		Name: "slot-of-a-call-in-progress", File: "uprobes/calls.go",
		Old: "i >= 0 && cs.stack[i].slot == slot; i--", New: "i >= 0 && cs.stack[i].slot < slot; i--",
		By:  host("uprobes", "TestSlotThatIsUsedAgain"),
		Why: "two calls have one slot of the stack",
	},
	{
		Name: "trampoline-told-to-handlers", File: "uprobes/return.go",
		Old: "\t\treal = cs.real(r.SP, tramp)\n", New: "",
		By:  host("uprobes", "TestTailCall"),
		Why: "of two calls with one return address the second's handler sees the trampoline",
	},
	{
		Name: "left-calls-forgotten-by-the-look", File: "uprobes/calls.go",
		Old: "\tfor _, c := range left {\n\t\tif alive(c) {\n\t\t\tcs.putLeft(c)\n\t\t}\n\t}\n", New: "\t_ = left\n",
		By:  host("uprobes", "TestManyCalls"),
		Why: "a coroutine that is resumed after many calls crashes at its trampoline",
	},
	{
		Name: "left-calls-not-inherited", File: "uprobes/calls.go",
		Old: "\t\tif !c.stays {\n\t\t\tchild.putLeft(", New: "\t\tif false {\n\t\t\tchild.putLeft(",
		By:  host("uprobes", "TestChildOfACoroutine"),
		Why: "a child that goes on in a coroutine dies when that returns",
	},
}
