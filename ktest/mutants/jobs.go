package mutants

// jobs are defects in what processes are to each other: waiting, groups and sessions, limits, the
// end of a parent.
var jobs = []Mutant{
	{
		Name: "ended-thread-takes-a-signal-along", File: "linux/proc/exit.go",
		Old: "\tp.wakeForPending(t)\n\treturn false", New: "\treturn false",
		By:  host("linux/syscall", "TestSignalOutlivesTheThreadThatWasTold"),
		Why: "a process's signal is lost when the thread that was to take it ends",
	},
	{
		Name: "blocked-signal-not-left-to-others", File: "linux/proc/thread.go",
		Old: "\tt.leaveToOthers(took & t.blocked)\n", New: "\t_ = took\n",
		By:  host("linux/syscall", "TestSignalOutlivesTheMaskOfTheThreadThatWasTold"),
		Why: "a process's signal waits although a thread that sleeps could take it",
	},
	{
		Name: "limit-of-a-child-is-its-parents", File: "linux/proc/limit.go",
		Old: "\tp.limits[which] = to", New: "\tp.limits[which] = to\n\tp.parent.limits[which] = to",
		By:  host("linux/syscall", "TestLimitsAreCopied"),
		Why: "a child that lowers its limit lowers its parent's",
	},
	{
		Name: "lower-limit-above-the-upper", File: "linux/proc/limit.go",
		Old: "\tif which < 0 || which >= abi.NumRlimits || to.Cur > to.Max {", New: "\tif which < 0 || which >= abi.NumRlimits {",
		By:  host("linux/syscall", "TestLimitsAreCopied"),
		Why: "the lower limit can be above the upper",
	},
	{
		Name: "child-with-pending-signals", File: "linux/proc/clone.go",
		Old: "\tc.name.Store(p.name.Load())", New: "\tc.name.Store(p.name.Load())\n\tc.pending = p.pending",
		By:  host("linux/syscall", "TestForkAndSignals"),
		Why: "a child gets signals that were sent to its parent",
	},
	{
		Name: "child-without-a-mask", File: "linux/proc/clone.go",
		Old: "id, id, c, t.blocked, t.cpus", New: "id, id, c, 0, t.cpus",
		By:  host("linux/syscall", "TestForkAndSignals"),
		Why: "a child gets signals that its parent blocked",
	},
	{
		Name: "child-loses-the-alternate-stack", File: "linux/proc/clone.go",
		Old: "\tif a.Flags&(abi.CLONE_VM|abi.CLONE_VFORK) != abi.CLONE_VM {", New: "\tif a.Flags&(abi.CLONE_VM|abi.CLONE_VFORK) == abi.CLONE_VM {",
		By:  host("linux/syscall", "TestForkAndSignals"),
		Why: "a child of fork has no stack for its handlers",
	},
	{
		Name: "killed-child-told-as-exited", File: "linux/proc/exit.go",
		Old: "\tif sig := p.status.Signal(); sig != 0 {\n\t\tcode, status = abi.CLD_KILLED, sig\n\t}", New: "\tif sig := p.status.Signal(); sig != 0 {\n\t\tstatus = sig\n\t}",
		By:  host("linux/syscall", "TestCodesSayWhereSignalsComeFrom"),
		Why: "SIGCHLD says CLD_EXITED of a child that was killed",
	},
	{
		Name: "killed-child-told-as-exited-by-waitid", File: "linux/proc/wait.go",
		Old: "\t\tif c.status.Signal() != 0 {\n\t\t\tcode = abi.CLD_KILLED\n\t\t}", New: "",
		By:  host("linux/syscall", "TestWaitTellsOnce"),
		Why: "waitid says CLD_EXITED of a child that was killed",
	},
	{
		Name: "orphaned-group-is-not-hung-up", File: "linux/proc/exit.go",
		Old: "\tif stopped && g.orphaned() {", New: "\tif stopped && !g.orphaned() {",
		By:  host("linux/syscall", "TestJobsOfAShellThatEnds"),
		Why: "stopped jobs stay when their shell is gone",
	},
	{
		Name: "group-of-a-child-that-has-execed", File: "linux/proc/group.go",
		Old: "\t\tif who.execed {\n\t\t\treturn syscall.EACCES\n\t\t}", New: "",
		By:  host("linux/syscall", "TestGroupsAreRefused"),
		Why: "setpgid moves a child that runs another program",
	},
	{
		Name: "group-of-another-session", File: "linux/proc/group.go",
		Old: "\tcase g == nil && id != who.PID, g != nil && g.session != who.group.session:", New: "\tcase g == nil && id != who.PID:",
		By:  host("linux/syscall", "TestGroupsAreRefused"),
		Why: "a process joins a group of another session",
	},
	{
		Name: "leader-of-a-session-moves", File: "linux/proc/group.go",
		Old: "\tif who.group.session.leader == who {\n\t\treturn syscall.EPERM\n\t}", New: "",
		By:  host("linux/syscall", "TestGroupsAreRefused"),
		Why: "the leader of a session leaves its group",
	},
	{
		Name: "group-leader-makes-a-session", File: "linux/proc/group.go",
		Old: "\tif t.groups[p.PID] != nil {\n\t\treturn 0, syscall.EPERM\n\t}", New: "",
		By:  host("linux/syscall", "TestGroupsAreRefused"),
		Why: "a group has members in two sessions",
	},
	{
		Name: "stop-told-twice", File: "linux/proc/wait.go",
		Old: "\t\tc.stopTold = !keep", New: "\t\tc.stopTold = false",
		By:  host("linux/syscall", "TestWaitTellsOnce"),
		Why: "wait reports one stop again and again",
	},
	{
		Name: "going-on-told-twice", File: "linux/proc/wait.go",
		Old: "\t\tc.contNews = keep", New: "\t\t_ = keep",
		By:  host("linux/syscall", "TestWaitTellsOnce"),
		Why: "wait reports one SIGCONT again and again",
	},
	{
		Name: "wait-without-forgetting-forgets", File: "linux/proc/wait.go",
		Old: "\t\tif !keep {\n\t\t\tc.forget()\n\t\t}", New: "\t\tc.forget()",
		By:  host("linux/syscall", "TestWaitTellsOnce"),
		Why: "after WNOWAIT there is no child to wait for",
	},
	{
		Name: "stops-told-although-unwanted", File: "linux/proc/stop.go",
		Old: "\tif act.Flags&abi.SA_NOCLDSTOP != 0 && (code == abi.CLD_STOPPED || code == abi.CLD_CONTINUED) {\n\t\treturn\n\t}", New: "\t_ = act",
		By:  host("linux/syscall", "TestChildrenThatAreNotWanted"),
		Why: "SA_NOCLDSTOP does nothing",
	},
	{
		Name: "zombie-although-unwanted", File: "linux/proc/exit.go",
		Old: "\tunwanted := p.exitSignal == abi.SIGCHLD && (act.Handler == abi.SIG_IGN || act.Flags&abi.SA_NOCLDWAIT != 0)", New: "\tunwanted := p.exitSignal == abi.SIGCHLD && act.Handler == abi.SIG_IGN",
		By:  host("linux/syscall", "TestChildrenThatAreNotWanted"),
		Why: "children of a program that ignores SIGCHLD stay",
	},
	{
		Name: "exit-signal-always-sigchld", File: "linux/proc/stop.go",
		Old: "\t\tsig = p.exitSignal", New: "\t\tsig = abi.SIGCHLD",
		By:  host("linux/syscall", "TestWaitFitsChildren"),
		Why: "clone's exit signal is not sent",
	},
	{
		Name: "wait-for-another-group", File: "linux/proc/wait.go",
		Old: "\t\treturn c.group != nil && (c.group.ID == w.ID || w.ID == 0 && c.group == p.group)", New: "\t\treturn c.group != nil && (c.group.ID == w.ID || w.ID == 0)",
		By:  host("linux/syscall", "TestWaitFitsChildren"),
		Why: "waitpid(0) waits for children of other groups",
	},
}
