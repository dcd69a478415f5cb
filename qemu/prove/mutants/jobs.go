package mutants

// jobs are defects in what processes are to each other: waiting, groups and sessions, limits, the
// end of a parent.
var jobs = []Mutant{
	{
		Name: "ended-thread-takes-a-signal-along", File: "kernel/proc/exit.go",
		Old: "\t\tif _, ok := o.next(); ok {\n\t\t\to.nudge()\n\t\t}", New: "\t\t_ = o",
		By:  host("kernel/syscall", "TestSignalOutlivesTheThreadThatWasTold"),
		Why: "a signal of the process is not delivered when the thread ends that was told of it",
	},
	{
		Name: "limit-of-a-child-is-its-parents", File: "kernel/proc/limit.go",
		Old: "\tp.limits[which] = to", New: "\tp.limits[which] = to\n\tp.parent.limits[which] = to",
		By:  host("kernel/syscall", "TestLimitsAreCopied"),
		Why: "a child that lowers its limit lowers its parent's",
	},
	{
		Name: "lower-limit-above-the-upper", File: "kernel/proc/limit.go",
		Old: "\tif which < 0 || which >= abi.NumRlimits || to.Cur > to.Max {", New: "\tif which < 0 || which >= abi.NumRlimits {",
		By:  host("kernel/syscall", "TestLimitsAreCopied"),
		Why: "the lower limit can be above the upper",
	},
	{
		Name: "child-with-pending-signals", File: "kernel/proc/clone.go",
		Old: "\tc.name.Store(p.name.Load())", New: "\tc.name.Store(p.name.Load())\n\tc.pending = p.pending",
		By:  host("kernel/syscall", "TestForkAndSignals"),
		Why: "a child gets signals that were sent to its parent",
	},
	{
		Name: "child-without-a-mask", File: "kernel/proc/clone.go",
		Old: "\tc.PID, n.TID, n.process, n.blocked = id, id, c, t.blocked", New: "\tc.PID, n.TID, n.process, n.blocked = id, id, c, 0",
		By:  host("kernel/syscall", "TestForkAndSignals"),
		Why: "a child gets signals that its parent blocked",
	},
	{
		Name: "child-loses-the-alternate-stack", File: "kernel/proc/clone.go",
		Old: "\tif a.Flags&(abi.CLONE_VM|abi.CLONE_VFORK) != abi.CLONE_VM {", New: "\tif a.Flags&(abi.CLONE_VM|abi.CLONE_VFORK) == abi.CLONE_VM {",
		By:  host("kernel/syscall", "TestForkAndSignals"),
		Why: "a child of fork has no stack for its handlers",
	},
	{
		Name: "killed-child-told-as-exited", File: "kernel/proc/exit.go",
		Old: "\tif sig := p.status.Signal(); sig != 0 {\n\t\tcode, status = abi.CLD_KILLED, sig\n\t}", New: "\tif sig := p.status.Signal(); sig != 0 {\n\t\tstatus = sig\n\t}",
		By:  host("kernel/syscall", "TestCodesSayWhereSignalsComeFrom"),
		Why: "SIGCHLD says CLD_EXITED of a child that was killed",
	},
}
