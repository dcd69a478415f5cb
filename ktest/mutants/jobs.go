package mutants

// jobs are defects in what processes are to each other: waiting, groups and sessions, limits, the
// end of a parent.
var jobs = []Mutant{
	{
		Name: "ended-thread-takes-a-signal-along", In: "linux/proc.(*Process).lose",
		Old: "p.wakeForPending(t)", New: "",
		By:  host("linux/syscall", "TestSignalOutlivesTheThreadThatWasTold"),
		Why: "a process's signal is lost when the thread that was to take it ends",
	},
	{
		Name: "blocked-signal-not-left-to-others", In: "linux/proc.(*Thread).block",
		Old: "t.leaveToOthers(took & t.blocked)", New: "_ = took",
		By:  host("linux/syscall", "TestSignalOutlivesTheMaskOfTheThreadThatWasTold"),
		Why: "a process's signal waits although a thread that sleeps could take it",
	},
	{
		Name: "limit-of-a-child-is-its-parents", In: "linux/proc.(*Process).SetLimit",
		Old: "] = to", New: "] = to\n\tp.parent.limits[which] = to",
		By:  host("linux/syscall", "TestLimitsAreCopied"),
		Why: "a child that lowers its limit lowers its parent's",
	},
	{
		Name: "lower-limit-above-the-upper", In: "linux/proc.(*Process).SetLimit",
		Old: "|| to.Cur > to.Max ", New: "",
		By:  host("linux/syscall", "TestLimitsAreCopied"),
		Why: "the lower limit can be above the upper",
	},
	{
		Name: "child-with-pending-signals", In: "linux/proc.(*Process).inherit",
		Old: "name.Load())", New: "name.Load())\n\tc.pending = p.pending",
		By:  host("linux/syscall", "TestForkAndSignals"),
		Why: "a child gets signals that were sent to its parent",
	},
	{
		Name: "child-without-a-mask", In: "linux/proc.(*Process).beget",
		Old: "t.blocked", New: "0",
		By:  host("linux/syscall", "TestForkAndSignals"),
		Why: "a child gets signals that its parent blocked",
	},
	{
		Name: "child-loses-the-alternate-stack", In: "linux/proc.(*Thread).fork",
		Old: "!= abi", New: "== abi",
		By:  host("linux/syscall", "TestForkAndSignals"),
		Why: "a child of fork has no stack for its handlers",
	},
	{
		Name: "killed-child-told-as-exited", In: "linux/proc.(*Process).tellEnd",
		Old: "p.status.how()", New: "abi.CLD_EXITED",
		By:  host("linux/syscall", "TestCodesSayWhereSignalsComeFrom"),
		Why: "SIGCHLD says CLD_EXITED of a child that was killed",
	},
	{
		Name: "killed-child-told-as-exited-by-waitid", In: "linux/proc.(*Process).change",
		Old: "c.status.how()", New: "abi.CLD_EXITED",
		By:  host("linux/syscall", "TestWaitTellsOnce"),
		Why: "waitid says CLD_EXITED of a child that was killed",
	},
	{
		Name: "orphaned-group-is-not-hung-up", In: "linux/proc.(*Group).abandoned",
		Old: "g.orphaned", New: "!g.orphaned",
		By:  host("linux/syscall", "TestJobsOfAShellThatEnds"),
		Why: "stopped jobs stay when their shell is gone",
	},
	{
		Name: "group-of-a-child-that-has-execed", In: "linux/proc.(*Process).SetGroup",
		Old: "if who.execed {\n\t\t\treturn syscall.EACCES\n\t\t}", New: "",
		By:  host("linux/syscall", "TestGroupsAreRefused"),
		Why: "setpgid moves a child that runs another program",
	},
	{
		Name: "group-of-another-session", In: "linux/proc.(*Process).SetGroup",
		Old: ", g != nil && g.session != who.group.session", New: "",
		By:  host("linux/syscall", "TestGroupsAreRefused"),
		Why: "a process joins a group of another session",
	},
	{
		Name: "leader-of-a-session-moves", In: "linux/proc.(*Process).SetGroup",
		Old: "if who.group.session.leader == who {\n\t\treturn syscall.EPERM\n\t}", New: "",
		By:  host("linux/syscall", "TestGroupsAreRefused"),
		Why: "the leader of a session leaves its group",
	},
	{
		Name: "group-leader-makes-a-session", In: "linux/proc.(*Process).NewSession",
		Old: "if t.groups[p.PID] != nil {\n\t\treturn 0, syscall.EPERM\n\t}", New: "",
		By:  host("linux/syscall", "TestGroupsAreRefused"),
		Why: "a group has members in two sessions",
	},
	{
		Name: "stop-told-twice", In: "linux/proc.(*Process).change",
		Old: "= !keep", New: "= false",
		By:  host("linux/syscall", "TestWaitTellsOnce"),
		Why: "wait reports one stop again and again",
	},
	{
		Name: "going-on-told-twice", In: "linux/proc.(*Process).change",
		Old: "\tc.contNews", New: "\t_",
		By:  host("linux/syscall", "TestWaitTellsOnce"),
		Why: "wait reports one SIGCONT again and again",
	},
	{
		Name: "wait-without-forgetting-forgets", In: "linux/proc.(*Process).change",
		Old: "if !keep {\n\t\t\tc.forget()\n\t\t}", New: "c.forget()",
		By:  host("linux/syscall", "TestWaitTellsOnce"),
		Why: "after WNOWAIT there is no child to wait for",
	},
	{
		Name: "stops-told-although-unwanted", In: "linux/proc.(*Process).tellParent",
		Old: "if act.Flags&abi.SA_NOCLDSTOP != 0 && (code == abi.CLD_STOPPED || code == abi.CLD_CONTINUED) {\n\t\treturn\n\t}", New: "_ = act",
		By:  host("linux/syscall", "TestChildrenThatAreNotWanted"),
		Why: "SA_NOCLDSTOP does nothing",
	},
	{
		Name: "zombie-although-unwanted", In: "linux/proc.(*Process).tellEnd",
		Old: "(act.Handler == abi.SIG_IGN || act.Flags&abi.SA_NOCLDWAIT != 0)", New: "act.Handler == abi.SIG_IGN",
		By:  host("linux/syscall", "TestChildrenThatAreNotWanted"),
		Why: "children of a program that ignores SIGCHLD stay",
	},
	{
		Name: "exit-signal-always-sigchld", In: "linux/proc.(*Process).tellParent",
		Old: "p.exitSignal", New: "abi.SIGCHLD",
		By:  host("linux/syscall", "TestWaitFitsChildren"),
		Why: "clone's exit signal is not sent",
	},
	{
		Name: "wait-for-another-group", In: "linux/proc.Which.fits",
		Old: " && c.group == p.group", New: "",
		By:  host("linux/syscall", "TestWaitFitsChildren"),
		Why: "waitpid(0) waits for children of other groups",
	},
}
