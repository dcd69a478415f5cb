package mutants

// Programs that are part of their detours.
var fused = []Mutant{
	{
		Name: "fused-without-a-look-inside", In: "kprobes/fuse.Make",
		Old: "c.put(0x75, byte(back))", New: "c.put(0x90, 0x90)",
		By:  host("kprobes/fuse", "TestHits"),
		Why: "a hit inside of a handler runs the program",
	},
	{
		Name: "fused-without-a-counter", In: "kprobes/fuse.Make",
		Old: "c.put(0x65, 0x48, 0xFF, 0x04, 0x25)", New: "c.put(0x65, 0x48, 0x3B, 0x04, 0x25)",
		By:  host("kprobes/fuse", "TestHits"),
		Why: "hits are in no ledger",
	},
	{
		Name: "fused-loses-flags", In: "kprobes/fuse.(*Code).restore",
		Old: "0x9E)", New: "0x90)",
		By:  host("kprobes/fuse", "TestHits"),
		Why: "the probed code finds the program's flags",
	},
	{
		Name: "fused-loses-ax", In: "kprobes/fuse.(*Code).restore",
		Old: "c.stack(0x58, 0)", New: "c.stack(0x58, 1)",
		By:  host("kprobes/fuse", "TestHits"),
		Why: "the probed code finds the flags in AX",
	},
	{
		Name: "flags-dead-before-a-condition", In: "arch/amd64/live.of1",
		Old: "return condition(in), 0", New: "return 0, 0",
		By:  host("arch/amd64/live", "TestFlagsDead"),
		Why: "a jump depends on the program's flags",
	},
	{
		Name: "registers-free-in-assembly", In: "arch/amd64/live.(*Function).EntryFree",
		Old: "!f.Compiled(f.Addr)", New: "false",
		By:  host("arch/amd64/live", "TestEntryFree"),
		Why: "R12 of a function in assembly is lost",
	},
	{
		Name: "a-loop-loses-its-registers", In: "arch/amd64/live.(*Function).EntryFree",
		Old: "in.Target(uint64(off)) == 0", New: "false",
		By:  host("arch/amd64/live", "TestEntryFree"),
		Why: "the first block is a loop, which has its variables in R12",
	},
	{
		Name: "fused-beside-a-second-probe", In: "kprobes.(*point).lone",
		Old: "len(l) != 1", New: "len(l) < 1",
		By:  host("kprobes", "TestFusedGoesBack"),
		Why: "the second probe is never called",
	},
	{
		Name: "fused-although-held", In: "kprobes.(*point).wants",
		Old: "|| !k.Place.Link.Options.Fuse.Ready()", New: "",
		By:  host("kprobes", "TestFusedGoesBack"),
		Why: "a program that is held runs",
	},
	{
		Name: "fused-for-another-probe", In: "kprobes.(*point).wants",
		Old: "pt.detour.For != any(k)", New: "false",
		By:  host("kprobes", "TestFusedIsForOneProbe"),
		Why: "hits run the program of a probe that is gone",
	},
	{
		Name: "nobody-stands-in-a-program", In: "kprobes.(*point).stands",
		Old: "ip < pt.detour.Resume", New: "ip < pt.detour.Fused",
		By:  host("kprobes", "TestFusedWaits"),
		Why: "a program runs on after its probe was removed",
	},
	{
		Name: "form-decided-twice", In: "kprobes.swap",
		Old: "forms[i] == fused\n", New: "to(pt) == fused\n",
		By:  host("kprobes", "TestFusedWhileTheSysctlChanges"),
		Why: "what is at a place is not what is known of it",
	},
	{
		Name: "counter-not-cleared", In: "kernel/cpu/percpu.Take",
		Old: "clear(unsafe.Slice((*byte)(At(off, cpu)), words(n)*word))", New: "_ = cpu",
		By:  host("kernel/cpu/percpu", "TestTaken"),
		Why: "a new probe has the hits of an old one",
	},
	{
		Name: "memory-of-one-cpu", In: "kernel/cpu/percpu.At",
		Old: "uintptr(cpu)*trap.AreaSize", New: "0*uintptr(cpu)",
		By:  host("kernel/cpu/percpu", "TestTaken"),
		Why: "all CPUs are read from the first",
	},
	{
		Name: "log2-of-negative-numbers", In: "bpf/jit.(*fuser).bucket",
		Old: "opSar, sign", New: "opShr, sign",
		By:  host("bpf/jit", "TestFusedBuckets"),
		Why: "a negative number is counted among others",
	},
	{
		Name: "scratch-register-that-is-needed", In: "bpf/jit.(*fuser).own",
		Old: "f.now.holds(v.reg) == 1", New: "true",
		By:  host("bpf/jit", "TestFusedProgramsDoTheSame"),
		Why: "a value changes with its copy",
	},
	{
		Name: "stack-not-checked-when-fused", In: "optprobe.(*plan).fuse",
		Old: "uint64(at))\n\t\t\treturn out", New: "uint64(at))\n\t\t\treturn out[:0]",
		By:  kernel(1, "bpf/fused_while_stacks_grow"),
		Why: "a call that grows its stack first is counted twice",
	},
}
