package mutants

// signals are defects in signals: lost ones, calls that end with EINTR for nothing, actions and masks
// over fork and exec, si_code, flags and stack of a handler.
var signals = []Mutant{
	{
		Name: "signal-to-a-thread-that-blocks-it", File: "kernel/proc/send.go",
		Old: "\t\tif t.blocked&s == 0 || t.waits&s != 0 {", New: "\t\tif t.blocked&s >= 0 || t.waits&s != 0 {",
		By:  host("kernel/syscall", "TestSignalGoesToWhoDoesNotBlockIt"),
		Why: "the thread that does not block the signal is not woken",
	},
	{
		Name: "unblocked-signal-not-looked-for", File: "kernel/proc/thread.go",
		Old: "\tif _, ok := t.next(); ok {\n\t\tt.work.Store(true)\n\t}", New: "\t_ = t.next",
		By:  host("kernel/syscall", "TestHandlersOnce"),
		Why: "a signal that waited is not delivered when it is unblocked",
	},
	{
		Name: "second-realtime-signal-lost", File: "kernel/proc/signal/queue.go",
		Old: "\tif !slices.ContainsFunc(q.infos, func(s abi.Siginfo) bool { return int(s.Signo) == n }) {\n\t\tq.set &^= Of(n)\n\t}", New: "\tq.set &^= Of(n)",
		By:  host("kernel/proc/signal", "TestQueueOrder"),
		Why: "of two queued realtime signals one is lost",
	},
	{
		Name: "removed-signal-stays", File: "kernel/proc/signal/queue.go",
		Old: "\tq.infos = slices.DeleteFunc(q.infos, func(i abi.Siginfo) bool { return s.Has(int(i.Signo)) })", New: "",
		By:  host("kernel/proc/signal", "TestQueueRemove"),
		Why: "what was dropped is delivered with the next of its kind",
	},
	{
		Name: "stopped-call-is-interrupted", File: "kernel/proc/deliver.go",
		Old: "\tif t.again != NoRestart {\n\t\tt.rewind()\n\t\tt.again = NoRestart\n\t\treturn // the call is still to have its mask and its deadline\n\t}", New: "\tt.again = NoRestart",
		By:  host("kernel/syscall", "TestStopAndContinue"),
		Why: "a call that a stop interrupts returns EINTR",
	},
	{
		Name: "restart-without-sa-restart", File: "kernel/proc/deliver.go",
		Old: "\tif t.again == RestartSys && act.Flags&abi.SA_RESTART != 0 {", New: "\tif t.again == RestartSys {",
		By:  host("kernel/syscall", "TestInterruptedCalls"),
		Why: "a call is made again although the handler was set without SA_RESTART",
	},
	{
		Name: "quiet-call-made-again", File: "kernel/proc/deliver.go",
		Old: "\tif t.again == RestartSys && act.Flags&abi.SA_RESTART != 0 {", New: "\tif t.again != NoRestart && act.Flags&abi.SA_RESTART != 0 {",
		By:  host("kernel/syscall", "TestInterruptedCalls"),
		Why: "pause goes on behind a handler with SA_RESTART",
	},
	{
		Name: "handlers-shared-over-fork", File: "kernel/proc/clone.go",
		Old: "\tif flags&abi.CLONE_SIGHAND != 0 {\n\t\tc.actions = p.actions", New: "\tif flags&abi.CLONE_SIGHAND == 0 {\n\t\tc.actions = p.actions",
		By:  host("kernel/syscall", "TestForkCopiesActions"),
		Why: "what a child does about a signal, its parent does, too",
	},
	{
		Name: "handlers-not-shared-by-clone", File: "kernel/proc/clone.go",
		Old: "\tif flags&abi.CLONE_SIGHAND != 0 {\n\t\tc.actions = p.actions", New: "\tif flags&abi.CLONE_SIGHAND != 0 && flags&abi.CLONE_VM == 0 {\n\t\tc.actions = p.actions",
		By:  host("kernel/syscall", "TestForkCopiesActions"),
		Why: "CLONE_SIGHAND does nothing",
	},
	{
		Name: "handlers-kept-by-clear-sighand", File: "kernel/proc/clone.go",
		Old: "\tif flags&abi.CLONE_CLEAR_SIGHAND != 0 {\n\t\tc.actions.ForExec()\n\t}", New: "",
		By:  host("kernel/syscall", "TestCloneClearsHandlers"),
		Why: "CLONE_CLEAR_SIGHAND does nothing",
	},
	{
		Name: "limits-of-the-first-process", File: "kernel/proc/clone.go",
		Old: "\tc.path, c.exe, c.layout, c.args, c.limits = p.path, p.exe, p.layout, p.args, p.limits", New: "\tc.path, c.exe, c.layout, c.args, c.limits = p.path, p.exe, p.layout, p.args, p.table.init.limits",
		By:  host("kernel/syscall", "TestLimitsAreCopied"),
		Why: "a child has not its parent's limits",
	},
	{
		Name: "exec-forgets-what-is-ignored", File: "kernel/proc/signal/actions.go",
		Old: "\t\tif a[n].Handler != abi.SIG_IGN {\n\t\t\ta[n] = abi.Sigaction{}\n\t\t} else {\n\t\t\ta[n] = abi.Sigaction{Handler: abi.SIG_IGN}\n\t\t}", New: "\t\ta[n] = abi.Sigaction{}",
		By:  host("kernel/syscall", "TestCloneClearsHandlers"),
		Why: "nohup does nothing",
	},
	{
		Name: "exec-keeps-handlers", File: "kernel/proc/signal/actions.go",
		Old: "\t\tif a[n].Handler != abi.SIG_IGN {\n\t\t\ta[n] = abi.Sigaction{}", New: "\t\tif a[n].Handler == abi.SIG_DFL {\n\t\t\ta[n] = abi.Sigaction{}",
		By:  host("kernel/syscall", "TestCloneClearsHandlers"),
		Why: "a signal jumps into code that is gone",
	},
	{
		Name: "exec-keeps-the-alternate-stack", File: "kernel/proc/exec.go",
		Old: "\tt.altStack = abi.Stack{}\n\tt.cpu.Reset", New: "\tt.cpu.Reset",
		By:  host("kernel/syscall", "TestExecAndSignals"),
		Why: "a handler's stack is in memory that is gone",
	},
	{
		Name: "exec-keeps-timers", File: "kernel/proc/exec.go",
		Old: "\tp.dropTimers()\n\tp.releaseParent()", New: "\tp.releaseParent()",
		By:  host("kernel/syscall", "TestExecAndSignals"),
		Why: "a timer of the old program's ends the new one",
	},
	{
		Name: "vfork-does-not-wait", File: "kernel/proc/clone.go",
		Old: "\tif a.Flags&abi.CLONE_VFORK != 0 {\n\t\tt.awaitChild(vfork)\n\t}", New: "\t_ = vfork",
		By:  host("kernel/syscall", "TestVforkWaitsForExec"),
		Why: "the parent runs on the stack that its child of vfork uses",
	},
	{
		Name: "exec-does-not-release-vfork", File: "kernel/proc/exec.go",
		Old: "\tp.dropTimers()\n\tp.releaseParent()", New: "\tp.dropTimers()",
		By:  host("kernel/syscall", "TestVforkWaitsForExec"),
		Why: "the parent waits for the end of what vfork and exec started",
	},
	{
		Name: "thread-without-a-mask", File: "kernel/proc/clone.go",
		Old: "\tn.TID, n.process, n.blocked = id, p, t.blocked", New: "\tn.TID, n.process, n.blocked = id, p, 0",
		By:  host("kernel/syscall", "TestForkAndSignals"),
		Why: "a new thread gets signals that its maker blocked",
	},
	{
		Name: "kill-tells-another-code", File: "kernel/syscall/signal.go",
		Old: "\tinfo := proc.SignalFrom(p, n, abi.SI_USER)", New: "\tinfo := proc.SignalFrom(p, n, abi.SI_TKILL)",
		By:  host("kernel/syscall", "TestCodesSayWhereSignalsComeFrom"),
		Why: "si_code of kill is not SI_USER",
	},
	{
		Name: "tkill-tells-another-code", File: "kernel/syscall/signal.go",
		Old: "\treturn done(to.Send(proc.SignalFrom(t.Process(), n, abi.SI_TKILL)))", New: "\treturn done(to.Send(proc.SignalFrom(t.Process(), n, abi.SI_USER)))",
		By:  host("kernel/syscall", "TestCodesSayWhereSignalsComeFrom"),
		Why: "si_code of tgkill is not SI_TKILL",
	},
	{
		Name: "direction-flag-in-a-handler", File: "kernel/proc/frame.go",
		Old: "\tclearFlags = amd64.RFLAGS_TF | amd64.RFLAGS_DF | amd64.RFLAGS_RF", New: "\tclearFlags = amd64.RFLAGS_TF | amd64.RFLAGS_RF",
		By:  host("kernel/syscall", "TestDirectionFlag"),
		Why: "a signal handler runs with DF set, and its copies go backwards",
	},
	{
		Name: "ignoring-keeps-what-waits", File: "kernel/proc/deliver.go",
		Old: "\t\tif a.Ignored(n) {\n\t\t\tp.unqueue(signal.Of(n))\n\t\t}", New: "",
		By:  host("kernel/syscall", "TestForkAndSignals"),
		Why: "a signal that waits is delivered although it is ignored since",
	},
	{
		Name: "sigtimedwait-leaves-the-signal", File: "kernel/proc/thread.go",
		Old: "\tt.waits = 0\n\tif info, ok := t.take(^set); ok {\n\t\treturn info, nil\n\t}\n\treturn abi.Siginfo{}, err", New: "\tt.waits = 0\n\tif n, ok := t.process.pending.Next(^set); ok {\n\t\treturn abi.Siginfo{Signo: int32(n)}, nil\n\t}\n\tif info, ok := t.take(^set); ok {\n\t\treturn info, nil\n\t}\n\treturn abi.Siginfo{}, err",
		By:  host("kernel/syscall", "TestSigtimedwaitTakesTheSignal"),
		Why: "a signal that was waited for is delivered, too",
	},
	{
		Name: "overrun-not-counted", File: "kernel/proc/timer.go",
		Old: "\t\ttm.overrun = min(tm.overrun+times, most)", New: "\t\ttm.overrun = 0",
		By:  host("kernel/syscall", "TestTimerOverruns"),
		Why: "timer_getoverrun says 0",
	},
}
