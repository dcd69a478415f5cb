package mutants

// cameras are defects in what is recorded of a hit.
var cameras = []Mutant{
	{
		Name: "stage-left-out", File: "kprobes/camera_trap.go",
		Old: "\t\tc.shoot(r, glass.ToStep, nil, 0, 0)\n", New: "",
		By:  kernel(1, "glass/single_step"),
		Why: "a recording does not show that the copy is stepped",
	},
	{
		Name: "stale-byte-in-a-frame", File: "kprobes/camera_return_trap.go",
		Old: "\tf.Note[0], f.Note[1] = a, b\n", New: "\tf.Note[0], f.Note[1] = a, b\n\tf.Text[0] = c.KP.point.Orig[0]\n",
		By:  kernel(1, "glass/boosted"),
		Why: "a recording shows the code as it was before the probe",
	},
	{
		Name: "frames-of-another-goroutine", File: "kernel/glass/film.go",
		Old: "case old == 0 || f.began.Load() || old<<8 != key(cpu, goroutine)<<8:", New: "case old == 0 || f.began.Load():",
		By:  host("kernel/glass", "TestClaimedEarly"),
		Why: "behind a stack that grows, the hit of another goroutine is recorded",
	},
	{
		Name: "camera-left-behind", File: "kprobes/camera.go",
		Old: "\tunregister([]*Kprobe{c.entry(), c.watcher})\n", New: "\tunregister([]*Kprobe{c.watcher})\n",
		By:  kernel(1, "glass/boosted"),
		Why: "the hits of a place where a camera was go on taking longer",
	},
	{
		Name: "camera-not-behind-the-return-handlers", File: "kprobes/camera_return_trap.go",
		Old: "\t\t\tbelow.next, in.next = in.next, uintptr(unsafe.Pointer(below))\n", New: "\t\t\tc.ret.pool.put(below, id)\n",
		By:  kernel(1, "glass/return_probe_by_a_jump"),
		Why: "a recording ends before the call goes back",
	},
	{
		Name: "stop-without-the-other-cpus", File: "kernel/smp/stop_tamago.go",
		Old: "\ttaping := glass.Taping()\n", New: "\ttaping := glass.Taping() && n == 0\n",
		By:  kernel(2, "glass/way_to_a_jump"),
		Why: "a recording does not show that the other CPUs stand still",
	},
	{
		Name: "camera-records-a-disabled-handler-as-called", File: "kprobes/camera_trap.go",
		Old: "\tcase special&flagOff != 0:\n\t\tk.ledger.Count(id, probe.Disarmed)\n\t\tc.shoot(r, glass.Off, k, 0, 0)\n", New: "",
		By:  kernel(1, "glass/disabled"),
		Why: "at a recorded hit, a probe that is disabled is called",
	},
	{
		Name: "values-of-a-watchpoint-swapped-in-a-frame", File: "kwatch/camera_trap.go",
		Old: "f.Probe = h.Old, h.New, h.IP", New: "f.Probe = h.New, h.Old, h.IP",
		By:  kernel(1, "glass/watched_write"),
		Why: "a recording shows the new value as the old one",
	},
	{
		Name: "stage-left-out-in-a-program", File: "uprobes/camera_hit.go",
		Old: "\t\tc.shoot(th, next, glass.ToStep, nil, 0, 0)\n", New: "",
		By:  kernel(1, "uprobes/camera_stepped"),
		Why: "a recording does not show that the copy in a program is stepped",
	},
	{
		Name: "stale-byte-in-a-frame-of-a-program", File: "uprobes/camera_hit.go",
		Old: "\tif stage == glass.Abandoned {\n", New: "\tf.Text[0] = c.at.plan.Code[0]\n\tif stage == glass.Abandoned {\n",
		By:  kernel(1, "uprobes/camera_boosted"),
		Why: "a recording shows the program's code as it was before the probe",
	},
	{
		Name: "frames-of-another-thread", File: "uprobes/camera_hit.go",
		Old: "c.phase.Load() == inHit && c.who.Load() == int64(th.t.TID)", New: "c.phase.Load() == inHit",
		By:  host("uprobes", "TestFilmIsOfOneThread"),
		Why: "while a handler of the recorded hit blocks, the hit of another thread is recorded",
	},
	{
		Name: "camera-left-behind-in-a-program", File: "uprobes/camera.go",
		Old: "\tc.phase.Store(gone)\n\tsubmit(o)\n", New: "\tc.phase.Store(gone)\n",
		By:  host("uprobes", "TestPlaceIsAsBeforeTheCamera"),
		Why: "the calls of a function in a program where a camera was go on taking longer",
	},
	{
		Name: "camera-outlives-the-thread", File: "uprobes/life.go",
		Old: "\t\tfilmEnds(t)\n", New: "",
		By:  host("uprobes", "TestFilmOfAThreadThatEnds"),
		Why: "a recording does not say that the thread has ended in the call",
	},
}
