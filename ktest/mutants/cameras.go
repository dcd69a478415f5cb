package mutants

// cameras are defects in what is recorded of a hit.
var cameras = []Mutant{
	{
		Name: "stage-left-out", In: "kprobes.(*Camera).perform",
		Old: "c.shoot(r, glass.ToStep, nil, 0, 0)", New: "",
		By:  kernel(1, "glass/single_step"),
		Why: "a recording does not show that the copy is stepped",
	},
	{
		Name: "stale-byte-in-a-frame", In: "kprobes.(*Camera).shoot",
		Old: "= a, b", New: "= a, b\n\tf.Text[0] = c.KP.point.Orig[0]",
		By:  kernel(1, "glass/boosted"),
		Why: "a recording shows the code as it was before the probe",
	},
	{
		Name: "frames-of-another-goroutine", In: "probe/glass.(*Film).Claim",
		Old: " || old<<8 != key(cpu, goroutine)<<8", New: "",
		By:  host("probe/glass", "TestClaimedEarly"),
		Why: "behind a stack that grows, the hit of another goroutine is recorded",
	},
	{
		Name: "camera-left-behind", In: "kprobes.UnregisterCamera",
		Old: "entry(), c.", New: "",
		By:  kernel(1, "glass/boosted"),
		Why: "the hits of a place where a camera was go on taking longer",
	},
	{
		Name: "camera-not-behind-the-return-handlers", In: "kprobes.(*Camera).follow",
		Old: "below.next, in.next = in.next, uintptr(unsafe.Pointer(below)", New: "c.ret.pool.put(below, id",
		By:  kernel(1, "glass/return_probe_by_a_jump"),
		Why: "a recording ends before the call goes back",
	},
	{
		Name: "stop-without-the-other-cpus", In: "kernel/smp.hold",
		Old: "On()", New: "On() && n == 0",
		By:  kernel(2, "glass/way_to_a_jump"),
		Why: "a recording does not show that the other CPUs stand still",
	},
	{
		Name: "camera-records-a-disabled-handler-as-called", In: "kprobes.(*Camera).call",
		Old: "case special&flagOff != 0:\n\t\tk.ledger.Count(id, ledger.Disarmed)\n\t\tc.shoot(r, glass.Off, k, 0, 0)", New: "",
		By:  kernel(1, "glass/disabled"),
		Why: "at a recorded hit, a probe that is disabled is called",
	},
	{
		Name: "values-of-a-watchpoint-swapped-in-a-frame", In: "kwatch.(*Camera).accessed",
		Old: "Old, h.New", New: "New, h.Old",
		By:  kernel(1, "glass/watched_write"),
		Why: "a recording shows the new value as the old one",
	},
	{
		Name: "stage-left-out-in-a-program", In: "uprobes.(*Camera).performs",
		Old: "c.shoot(th, next, glass.ToStep, nil, 0, 0)", New: "",
		By:  kernel(1, "uprobes/camera_stepped"),
		Why: "a recording does not show that the copy in a program is stepped",
	},
	{
		Name: "stale-byte-in-a-frame-of-a-program", In: "uprobes.(*Camera).shoot",
		Old: "if stage == glass.Abandoned", New: "f.Text[0] = c.at.plan.Code[0]\n\tif stage == glass.Abandoned",
		By:  kernel(1, "uprobes/camera_boosted"),
		Why: "a recording shows the program's code as it was before the probe",
	},
	{
		Name: "frames-of-another-thread", In: "uprobes.(*Camera).records",
		Old: " && c.who.Load() == int64(th.t.TID)", New: "",
		By:  host("uprobes", "TestFilmIsOfOneThread"),
		Why: "while a handler of the recorded hit blocks, the hit of another thread is recorded",
	},
	{
		Name: "camera-left-behind-in-a-program", In: "uprobes.UnregisterCamera",
		Old: "submit(o)", New: "",
		By:  host("uprobes", "TestPlaceIsAsBeforeTheCamera"),
		Why: "the calls of a function in a program where a camera was go on taking longer",
	},
	{
		Name: "camera-outlives-the-thread", In: "uprobes.forget",
		Old: "filmEnds(t)", New: "",
		By:  host("uprobes", "TestFilmOfAThreadThatEnds"),
		Why: "a recording does not say that the thread has ended in the call",
	},
}
