package mutants

// watchpoints are defects in kwatch and below it.
var watchpoints = []Mutant{
	{
		Name: "resume-flag-not-set", File: "kwatch/hit_trap.go",
		Old: "\tif p.typ == Execute && uintptr(r.IP) == p.addr {\n\t\tr.Flags |= amd64.RFLAGS_RF\n\t}\n}\n\n// miss", New: "}\n\n// miss",
		By:  kernel(1, "watch/execute_resumes"),
		Why: "an instruction that is watched is hit for ever",
	},
	{
		Name: "dr6-not-cleared", File: "arch/amd64/trap/debug_trap.go",
		Old: "\tdebugreg.WriteDR6(debugreg.DR6_FIXED)\n", New: "",
		By:  kernel(1, "watch/bits_left_in_dr6"),
		Why: "an earlier hit is taken for a new one",
	},
	{
		Name: "dr6-of-who-the-nmi-interrupts-lost", File: "arch/amd64/trap/nmi_trap.go",
		Old: "\t\t\tdebugreg.WriteDR6(dr6)\n", New: "\t\t\t_ = dr6\n",
		By:  kernel(1, "watch/nmi_before_dr6_is_read"),
		Why: "a hit is lost whose #DB has not read DR6 when an NMI comes",
	},
	{
		Name: "earlier-hit-told-with-a-step", File: "arch/amd64/trap/debug_trap.go",
		Old: "\t\twhich = hitInStep(r, which)\n", New: "\t\thitInStep(r, which)\n",
		By:  kernel(2, "watch/step_after_a_hit"),
		Why: "QEMU's note of an earlier hit counts as one more",
	},
	{
		Name: "dr6-of-a-program-stays", File: "arch/amd64/user/enter_amd64.s",
		Old: "\tMOVQ\tCX, DR6\t\t\t// it only ever gains bits\n", New: "",
		By:  kernel(2, "watch/program_that_steps_leaves_no_bits"),
		Why: "a program's step is taken for the kernel's",
	},
	{
		Name: "jump-over-what-is-watched", File: "kprobes/site.go",
		Old: " || machine.This.Watched(at)", New: "",
		By:  kernel(2, "watch/execute_what_a_jump_covers"),
		Why: "a copy is executed, which no debug register sees",
	},
	{
		Name: "steps-on-the-usual-stack", File: "arch/amd64/trap/debug_step_trap.go",
		Old: "\tstepping[id] = otherIDT\n\tlidt(&stepIDTR)\n", New: "\tstepping[id] = otherIDT\n",
		By:  kernel(1, "watch/access_in_a_step"),
		Why: "of two #DBs the second overwrites the frame of the first",
	},
	{
		Name: "old-value-read-late", File: "kwatch/hit_trap.go",
		Old: "\t\th.Old = atomic.SwapUint64(&p.last, h.New)\n", New: "\t\tatomic.StoreUint64(&p.last, h.New)\n\t\th.Old = atomic.LoadUint64(&p.last)\n",
		By:  kernel(1, "watch/write_tells_old_and_new"),
		Why: "Old is the same as New",
	},
	{
		Name: "late-cpu-not-armed", File: "arch/amd64/trap/debug_trap.go",
		Old: "\tdebugreg.Load(&armed.addr, dr7|debugreg.DR7_FIXED)\n", New: "\tif watching[id] = debugreg.Enabled(dr7); debugreg.ReadDR7() != debugreg.DR7_FIXED || id == 0 {\n\t\tdebugreg.Load(&armed.addr, dr7|debugreg.DR7_FIXED)\n\t}\n",
		By:  kernel(2, "watch/cpu_that_comes_late"),
		Why: "a CPU that starts when something is watched already does not watch",
	},
	{
		Name: "other-cpus-not-armed", File: "kwatch/real_tamago.go",
		Old: "\tsmp.CallAll(trap.LoadWatch)\n", New: "\tif len(s) > 0 {\n\t\tflags := cpu.IRQOff()\n\t\ttrap.LoadWatch()\n\t\tcpu.IRQRestore(flags)\n\t} else {\n\t\tsmp.CallAll(trap.LoadWatch)\n\t}\n",
		By:  kernel(2, "watch/armed_on_every_cpu_at_once"),
		Why: "only the CPU that registers watches",
	},
	{
		Name: "point-forgotten-before-the-cpus", File: "kwatch/register.go",
		Old: "\tload(s)\n\tfor _, p := range ps {\n\t\tpoints[p.reg].Store(nil)\n", New: "\tfor _, p := range ps {\n\t\tpoints[p.reg].Store(nil)\n",
		By:  kernel(2, "watch/armed_on_every_cpu_at_once"),
		Why: "CPUs go on watching what nobody asks for any more",
	},
	{
		Name: "hit-in-a-handler-not-told-apart", File: "kwatch/hit_trap.go",
		Old: "\tif st.Frame != 0 && at < st.Frame {\n", New: "\tif st.Frame != 0 && at > st.Frame {\n",
		By:  kernel(1, "watch/probe_in_a_watch_handler"),
		Why: "a handler that touches what it watches is called for ever",
	},
	{
		Name: "second-watch-of-one-access", File: "kwatch/register.go",
		Old: "\t\t\twhich |= 1 << n\n", New: "\t\t\twhich |= 0 << n\n",
		By:  host("kwatch", "TestWhatIsHitTogether"),
		Why: "of two watchpoints that an access hits, only the one that QEMU reports is hit",
	},
	{
		Name: "handler-while-the-machine-is-stopped", File: "kwatch/hit_trap.go",
		Old: "\tif smp.Stopped() { // the handler's code may be half changed\n", New: "\tif smp.Stopped() && which == 0 { // the handler's code may be half changed\n",
		By:  kernel(2, "watch/machine_stopped"),
		Why: "a handler runs whose code is half changed",
	},
	{
		Name: "length-of-eight-encoded-as-four", File: "arch/amd64/debugreg/debugreg.go",
		Old: "var lenField = [9]uint8{1: 0, 2: 1, 4: 3, 8: 2}", New: "var lenField = [9]uint8{1: 0, 2: 1, 4: 3, 8: 3}",
		By:  host("arch/amd64/debugreg", "TestRoundTrip"),
		Why: "half of a word is not watched",
	},
	{
		Name: "busy-register-given-again", File: "kwatch/register.go",
		Old: "\t\tif points[n].Load() == nil {\n\t\t\treturn n\n\t\t}\n\t}\n\treturn -1\n", New: "\t\tif points[n].Load() == nil {\n\t\t\treturn n\n\t\t}\n\t}\n\treturn 3\n",
		By:  host("kwatch", "TestRegisteringTakesTheFirstFreeRegister"),
		Why: "a fifth watchpoint takes another's register",
	},
	{
		Name: "watch-of-another-process", File: "kwatch/user.go",
		Old: "case p.userOf().process == t.Process():", New: "case p.userOf().process != nil:",
		By:  kernel(2, "watch/program_writes"),
		Why: "what another process does at the same address is reported",
	},
	{
		Name: "program-not-resumed", File: "kwatch/user.go",
		Old: "\tif p.typ == Execute && uintptr(r.IP) == p.addr {\n\t\tr.Flags |= amd64.RFLAGS_RF\n\t}\n", New: "\t_ = amd64.RFLAGS_RF\n",
		By:  kernel(2, "watch/program_executes"),
		Why: "a program's instruction that is watched is hit for ever",
	},
	{
		Name: "watch-of-an-ended-program-stays", File: "kwatch/user.go",
		Old: "broke the rules may have set it already\n\tload(wanted())\n", New: "broke the rules may have set it already\n",
		By:  kernel(2, "watch/program_refused_and_ended"),
		Why: "CPUs watch an address for a program that has ended",
	},
	{
		Name: "missed-watch-hit-not-counted", File: "kwatch/hit_trap.go",
		Old: "\t\t\tp.accounts.CountNested(trap.ID(r), probe.Missed)\n", New: "",
		By:  kernel(1, "watch/probe_in_a_watch_handler"),
		Why: "a hit inside a handler is lost without a trace",
	},
	{
		Name: "write-taken-for-a-read", File: "kwatch/hit_trap.go",
		Old: "p.typ == Read && h.Old != h.New {", New: "p.typ == Read && h.Old != h.Old {",
		By:  kernel(1, "watch/reads_only"),
		Why: "a watchpoint of reads reports writes, which the processor cannot tell apart",
	},
	{
		Name: "sse-not-saved-before-a-watch-handler", File: "kwatch/hit_trap.go",
		Old: "\ttrap.SaveXMM(r)\n\tip, sp := r.IP, r.SP\n", New: "\tip, sp := r.IP, r.SP\n",
		By:  kernel(1, "watch/xmm_survive_any_handler"),
		Why: "the watched code finds other floating-point numbers than it left",
	},
	{
		Name: "steps-not-watched-not-counted", File: "arch/amd64/trap/debug_step_trap.go",
		Old: "\t\tblind.Add(1)\n", New: "",
		By:  kernel(1, "watch/steps_without_space_on_the_stack"),
		Why: "nobody learns that accesses went unseen",
	},
	{
		Name: "steps-of-before-counted", File: "kwatch/register.go",
		Old: "\tp.blind = this.blind()\n", New: "",
		By:  host("kwatch", "TestStepsThatAreNotWatched"),
		Why: "a watchpoint seems to have missed what happened before it was there",
	},
}
