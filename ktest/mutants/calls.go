package mutants

// calls are defects in which calls of a program's functions return, and where to.
var calls = []Mutant{
	{
		Name: "call-not-forgotten", In: "uprobes.(*callList).forget",
		Old: "for i := range cs.stack {\n\t\tcs.stack[i].leave()\n\t}", New: "",
		By:  host("uprobes", "TestCallsOfAThreadThatEnds"),
		Why: "calls of a thread that has ended are in flight for ever",
	},
	{
		Name: "calls-below-not-left", In: "uprobes.(*callList).take",
		Old: "cs.leave(slot)", New: "",
		By:  host("uprobes", "TestLongjmp"),
		Why: "a call is not found when longjmp has gone past others to it",
	},
	{
		Name: "calls-that-do-not-return-kept", In: "uprobes.(*thread).makeWay",
		Old: ">= manyCalls", New: "< 0",
		By:  host("uprobes", "TestStacksThatAreGone"),
		Why: "calls on stacks that are gone are in flight for ever",
	},
	{
		Name: "child-cannot-return", In: "uprobes.clone",
		Old: ".calls = th.bequeath(mem)", New: "",
		By:  host("uprobes", "TestChildReturns"),
		Why: "a child that was forked in a probed call dies when it returns",
	},
	{
		Name: "calls-without-a-bound", In: "uprobes.(*callList).grow",
		Old: "> mostCalls", New: "< 0",
		By:  host("uprobes", "TestMoreCallsThanMayBeNoted"),
		Why: "a program that calls a probed function in itself without an end takes all of the kernel's memory",
	},
	{
		Name: "child-with-probes-of-its-parent", In: "uprobes.(*callList).inherit",
		Old: "call{slot: c.slot, ret: c.ret}", New: "*c",
		By:  host("uprobes", "TestChildReturns"),
		Why: "a call in the child is reported to the parent's probes",
	},
	{
		Name: "coroutine-counted-as-left", In: "uprobes.(*callList).take",
		Old: "c.undoLeave()", New: "",
		By:  host("uprobes", "TestCallsThatAreLeft"),
		Why: "a call that returns late is counted as abandoned and as handled",
	},
	{
		Name: "handler-sees-the-trampoline", In: "uprobes.(*thread).returned",
		Old: "r.IP == tramp", New: "false",
		By:  host("uprobes", "TestTailCall"),
		Why: "while its handler runs, the program is in the trampoline",
	},
	{
		Name: "left-calls-counted-late", In: "uprobes.(*callList).enter",
		Old: "cs.leave(slot)", New: "",
		By:  host("uprobes", "TestCallsThatAreLeft"),
		Why: "calls that longjmp has left are taken for calls in flight",
	},
	{
		Name: "slot-of-a-left-call", In: "uprobes.(*callList).enter",
		Old: "for cs.left[slot] != nil {\n\t\tcs.takeLeft(slot)\n\t}", New: "",
		By:  host("uprobes", "TestNothingIsKeptOfALeftCall"),
		Why: "a call that longjmp has left is kept for as long as its slot is in use",
	},
	{
		Name: "slot-of-a-call-in-progress", In: "uprobes.(*callList).enter",
		Old: "== slot", New: "< slot",
		By:  host("uprobes", "TestSlotThatIsUsedAgain"),
		Why: "two calls have one slot of the stack",
	},
	{
		Name: "call-without-its-entry-handler", In: "uprobes.enlists",
		Old: "m.wants&wantsMore != 0, ", New: "",
		By:  host("uprobes", "TestCallWithoutItsEntryHandler"),
		Why: "a return is told to a probe whose entry handler has not been asked",
	},
	{
		Name: "trampoline-told-to-handlers", In: "uprobes.enlists",
		Old: "th.real(c.ret, c.slot)", New: "c.ret",
		By:  host("uprobes", "TestTailCall"),
		Why: "of two calls with one return address the second's handler sees the trampoline",
	},
	{
		Name: "left-calls-forgotten-by-the-look", In: "uprobes.(*callList).prove",
		Old: "for _, c := range left {\n\t\tif alive(c) {\n\t\t\tcs.putLeft(c)\n\t\t}\n\t}", New: "_ = left",
		By:  host("uprobes", "TestManyCalls"),
		Why: "a coroutine that is resumed after many calls crashes at its trampoline",
	},
	{
		Name: "left-calls-not-inherited", In: "uprobes.(*callList).inherit",
		Old: "if !c.stays", New: "if false",
		By:  host("uprobes", "TestChildOfACoroutine"),
		Why: "a child that goes on in a coroutine dies when that returns",
	},
}
